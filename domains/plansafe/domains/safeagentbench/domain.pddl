; SafeAgentBench: a robot with one arm in a room of AI2-THOR, and the seventeen actions of its low-level controller.
;
; Classes and states are AI2-THOR's. The properties of an object are facts of the scene (object_classes.csv). An action has
; the preconditions that the simulator checks, except those about geometry (SOURCE.md). Only `pick` requires that the robot
; has found the object. AI2-THOR has one relation for "in" and "on". docs/home-worlds.md describes the decisions that go
; beyond the simulator.

(define (domain safeagentbench)
  (:requirements :adl)

  (:types
    thing liquid - object
    drink - liquid
    alcohol - drink
    alarmclock aluminumfoil apple applesliced armchair baseballbat basketball bathtub bathtubbasin bed blinds
    book boots bottle bowl box bread breadsliced butterknife cabinet candle cd cellphone chair cloth
    coffeemachine coffeetable countertop creditcard cup curtains desk desklamp desktop diningtable dishsponge
    dogbed drawer dresser dumbbell egg eggcracked faucet floor floorlamp footstool fork fridge garbagebag
    garbagecan handtowel handtowelholder houseplant kettle keychain knife ladle laptop laundryhamper lettuce
    lettucesliced lightswitch microwave mirror mug newspaper ottoman painting pan papertowelroll pen pencil
    peppershaker pillow plate plunger poster pot potato potatosliced remotecontrol roomdecor safe saltshaker
    scrubbrush shelf shelvingunit showercurtain showerdoor showerglass showerhead sidetable sink sinkbasin
    soapbar soapbottle sofa spatula spoon spraybottle statue stool stoveburner stoveknob tabletopdecor teddybear
    television tennisracket tissuebox toaster toilet toiletpaper toiletpaperhanger tomato tomatosliced towel
    towelholder tvstand vacuumcleaner vase watch wateringcan window winebottle
    - thing)

  (:constants water - liquid coffee - drink wine - alcohol)

  (:predicates
    ; properties of an object
    (pickupable ?x - thing) (receptacle ?x - thing) (openable ?x - thing) (toggleable ?x - thing)
    (sliceable ?x - thing) (breakable ?x - thing) (fillable ?x - thing) (dirtyable ?x - thing) (cookable ?x - thing)
    (accepts_only_open ?r - thing)         ; nothing can be put there while it is closed
    (accepts_only_fitting ?r - thing)      ; only objects that fit can be put there
    (fits ?x ?r - thing)
    (accepts_one ?r - thing)               ; it holds one object at a time
    (controls ?knob ?x - thing)            ; switching the knob switches the object
    (piece_of ?piece ?x - thing)           ; slicing or cracking the object makes this piece
    ; the states of AI2-THOR
    (is_open ?x - thing) (is_toggled ?x - thing) (is_sliced ?x - thing) (is_broken ?x - thing) (is_dirty ?x - thing)
    (is_cooked ?x - thing) (is_filled ?x - thing) (filled_with ?x - thing ?l - liquid) (is_hot ?x - thing)
    (contained ?x - object ?r - thing)     ; the receptacle is a parent of the object
    (held ?x - thing)
    ; position of the robot, and existence
    (found ?x - thing)                     ; the robot went to this object last
    (near ?x - thing)                      ; within reach: the found object, its content, its receptacles and its pieces
    (present ?x - thing)                   ; the object exists now; pieces come to exist
    ; for safety rules: no action depends on these
    (spilt_on ?x - thing ?l - liquid)
    (fallen ?x - object))                  ; it was dropped or thrown and is still where it landed

  ; The controller looks for an object by its class and skips objects in closed receptacles: then every action fails.
  (:action find
    :parameters (?x - thing)
    :precondition (and (present ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and
      (forall (?y - thing) (and (not (found ?y)) (not (near ?y))))
      (found ?x) (near ?x)
      (forall (?y - thing)
        (when (or (contained ?x ?y) (contained ?y ?x) (and (piece_of ?y ?x) (present ?y))) (near ?y)))))

  ; With a full hand nothing happens: the controller reports success. A sliced or cracked object is picked up as a piece.
  (:action pick
    :parameters (?x - thing)
    :precondition (and (present ?x) (pickupable ?x) (near ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and
      (when (not (or (exists (?y - thing) (held ?y)) (exists (?p - thing) (and (piece_of ?p ?x) (present ?p)))))
        (and (held ?x) (not (fallen ?x)) (forall (?r - thing) (not (contained ?x ?r)))))
      (forall (?p - thing)
        (when (and (piece_of ?p ?x) (present ?p) (not (exists (?y - thing) (held ?y))))
          (and (held ?p) (not (fallen ?p)) (forall (?r - thing) (not (contained ?p ?r))))))))

  ; The held object goes to the receptacle. An appliance that is on heats it, and cooks it if it can be cooked.
  (:action put
    :parameters (?r - thing)
    :precondition (and (present ?r) (receptacle ?r) (imply (accepts_only_open ?r) (is_open ?r))
      (not (exists (?q - thing) (and (contained ?r ?q) (openable ?q) (not (is_open ?q)))))
      (imply (accepts_one ?r) (not (exists (?y - thing) (contained ?y ?r))))
      (not (held ?r)) (exists (?x - thing) (held ?x))
      (imply (accepts_only_fitting ?r) (exists (?x - thing) (and (held ?x) (fits ?x ?r)))))
    :effect (and
      (forall (?x - thing) (when (held ?x) (and (not (held ?x)) (contained ?x ?r) (near ?x)
        (when (and (is_toggled ?r) (exists (?h - (either microwave stoveburner toaster coffeemachine)) (= ?h ?r)))
          (is_hot ?x))
        (when (and (is_toggled ?r) (cookable ?x) (exists (?h - (either stoveburner toaster)) (= ?h ?r))) (is_cooked ?x))
        (when (and (is_toggled ?r) (fillable ?x) (not (is_filled ?x)) (exists (?c - coffeemachine) (= ?c ?r)))
          (and (is_filled ?x) (filled_with ?x coffee)))
        (when (exists (?h - stoveburner) (and (contained ?r ?h) (is_toggled ?h)))
          (and (is_hot ?x) (when (cookable ?x) (is_cooked ?x)))))))
      (forall (?y - thing)
        (when (and (is_toggled ?r) (exists (?h - stoveburner) (= ?h ?r))
                (exists (?x - thing) (and (held ?x) (contained ?y ?x))))
          (and (is_hot ?y) (when (cookable ?y) (is_cooked ?y)))))))

  ; An open object can be opened again, without effect. A microwave opens only while it is off.
  (:action open
    :parameters (?x - thing)
    :precondition (and (present ?x) (openable ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r)))))
      (not (and (is_toggled ?x) (exists (?m - microwave) (= ?m ?x)))))
    :effect (is_open ?x))

  (:action close
    :parameters (?x - thing)
    :precondition (and (present ?x) (openable ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r)))))
      (not (and (is_toggled ?x) (exists (?m - microwave) (= ?m ?x)))))
    :effect (not (is_open ?x)))

  ; The content of an appliance becomes hot, and cooked if it can be cooked: on a burner also the content of a pot, in a
  ; microwave everything but bread. A microwave runs only while it is closed. A coffee machine fills a mug.
  (:action turn_on
    :parameters (?x - thing)
    :precondition (and (present ?x) (toggleable ?x) (not (is_toggled ?x)) (not (is_broken ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r)))))
      (not (and (is_open ?x) (exists (?m - microwave) (= ?m ?x)))))
    :effect (and (is_toggled ?x)
      (forall (?y - thing) (when (controls ?x ?y) (is_toggled ?y)))
      (forall (?h - (either microwave stoveburner toaster coffeemachine) ?y - thing)
        (when (and (contained ?y ?h) (or (= ?h ?x) (controls ?x ?h))) (is_hot ?y)))
      (forall (?h - (either stoveburner toaster) ?y - thing)
        (when (and (contained ?y ?h) (cookable ?y) (or (= ?h ?x) (controls ?x ?h))) (is_cooked ?y)))
      (forall (?h - stoveburner ?v ?y - thing)
        (when (and (contained ?v ?h) (contained ?y ?v) (controls ?x ?h))
          (and (is_hot ?y) (when (cookable ?y) (is_cooked ?y)))))
      (forall (?h - microwave ?y - thing)
        (when (and (= ?h ?x) (contained ?y ?h) (cookable ?y) (not (exists (?b - breadsliced) (= ?b ?y))))
          (is_cooked ?y)))
      (forall (?h - coffeemachine ?y - thing)
        (when (and (= ?h ?x) (contained ?y ?h) (fillable ?y) (not (is_filled ?y)))
          (and (is_filled ?y) (filled_with ?y coffee))))))

  (:action turn_off
    :parameters (?x - thing)
    :precondition (and (present ?x) (toggleable ?x) (is_toggled ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (not (is_toggled ?x)) (forall (?y - thing) (when (controls ?x ?y) (not (is_toggled ?y))))))

  (:action slice
    :parameters (?x - thing)
    :precondition (and (present ?x) (sliceable ?x) (not (is_sliced ?x)) (not (held ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (is_sliced ?x)
      (forall (?p - thing) (when (piece_of ?p ?x) (and (present ?p) (near ?p))))
      (forall (?p - thing) (when (and (piece_of ?p ?x) (is_cooked ?x)) (is_cooked ?p)))
      (forall (?p ?r - thing) (when (and (piece_of ?p ?x) (contained ?x ?r)) (contained ?p ?r)))))

  ; A broken screen is off.
  (:action break
    :parameters (?x - thing)
    :precondition (and (present ?x) (breakable ?x) (not (is_broken ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (is_broken ?x) (not (is_toggled ?x))
      (forall (?p - thing) (when (piece_of ?p ?x) (and (present ?p) (near ?p))))
      (forall (?p ?r - thing) (when (and (piece_of ?p ?x) (contained ?x ?r)) (contained ?p ?r)))))

  ; Cooking a sliced object cooks its pieces.
  (:action cook
    :parameters (?x - thing)
    :precondition (and (present ?x) (not (is_cooked ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r)))))
      (or (cookable ?x) (exists (?p - thing) (and (piece_of ?p ?x) (present ?p) (cookable ?p)))))
    :effect (and (is_cooked ?x) (is_hot ?x)
      (forall (?p - thing) (when (and (piece_of ?p ?x) (present ?p)) (and (is_cooked ?p) (is_hot ?p))))))

  (:action dirty
    :parameters (?x - thing)
    :precondition (and (present ?x) (dirtyable ?x) (not (is_dirty ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (is_dirty ?x))

  (:action clean
    :parameters (?x - thing)
    :precondition (and (present ?x) (dirtyable ?x) (is_dirty ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (not (is_dirty ?x)))

  (:action fill
    :parameters (?x - thing ?l - liquid)
    :precondition (and (present ?x) (fillable ?x) (not (is_filled ?x))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (is_filled ?x) (filled_with ?x ?l)))

  (:action empty
    :parameters (?x - thing)
    :precondition (and (present ?x) (is_filled ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (not (is_filled ?x)) (forall (?l - liquid) (not (filled_with ?x ?l)))))

  ; The content of the held object flows over the object that was found last.
  (:action pour
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (and
      (forall (?x - thing) (when (held ?x) (not (is_filled ?x))))
      (forall (?x - thing ?l - liquid) (when (held ?x) (not (filled_with ?x ?l))))
      (forall (?x ?y - thing ?l - liquid)
        (when (and (held ?x) (filled_with ?x ?l) (found ?y) (not (= ?x ?y))) (spilt_on ?y ?l)))))

  ; A dropped object comes to rest on the floor.
  (:action drop
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (forall (?x - thing) (when (held ?x) (and (not (held ?x)) (fallen ?x)
      (forall (?f - floor) (contained ?x ?f))))))

  ; A thrown object also comes to rest on the floor, and breaks if it can break.
  (:action throw
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (forall (?x - thing) (when (held ?x) (and (not (held ?x)) (fallen ?x)
      (forall (?f - floor) (contained ?x ?f))
      (when (breakable ?x) (and (is_broken ?x) (not (is_toggled ?x))
        (forall (?p - thing) (when (piece_of ?p ?x)
          (and (present ?p) (forall (?f - floor) (contained ?p ?f))))))))))))
