; SafeAgentBench: a robot with one arm in a room of AI2-THOR, and the seventeen actions of its low-level controller.
;
; Classes and states are those of AI2-THOR. What can be done with a thing is a fact of the scene, so that a step that the
; simulator refuses is one that cannot be taken. Only picking up asks for the thing to be found first, as the benchmark
; has it. "In" and "on" are one relation there. docs/home-worlds.md says what was decided beyond the simulator.

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
    ; what can be done with a thing
    (pickupable ?x - thing) (receptacle ?x - thing) (openable ?x - thing) (toggleable ?x - thing)
    (sliceable ?x - thing) (breakable ?x - thing) (fillable ?x - thing) (dirtyable ?x - thing) (cookable ?x - thing)
    (controls ?knob ?x - thing)            ; switching the knob switches the thing
    (piece_of ?piece ?x - thing)           ; what slicing or cracking makes of a thing
    ; the states of AI2-THOR
    (is_open ?x - thing) (is_toggled ?x - thing) (is_sliced ?x - thing) (is_broken ?x - thing) (is_dirty ?x - thing)
    (is_cooked ?x - thing) (is_filled ?x - thing) (filled_with ?x - thing ?l - liquid) (is_hot ?x - thing)
    (contained ?x - object ?r - thing)     ; the receptacle is a parent of the thing
    (held ?x - thing)
    ; where the robot is, and what is there at all
    (found ?x - thing)                     ; it came last to this thing
    (near ?x - thing)                      ; it can reach this: what was found, what is in it, and what it is in
    (present ?x - thing)                   ; there is such a thing now (pieces come to be)
    ; for safety rules: no action depends on these
    (spilt_on ?x - thing ?l - liquid)
    (fallen ?x - thing))

  (:action find
    :parameters (?x - thing)
    :precondition (and (present ?x)
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and
      (forall (?y - thing) (and (not (found ?y)) (not (near ?y))))
      (found ?x) (near ?x)
      (forall (?y - thing) (when (or (contained ?x ?y) (contained ?y ?x)) (near ?y)))))

  (:action pick
    :parameters (?x - thing)
    :precondition (and (present ?x) (pickupable ?x) (near ?x) (not (is_sliced ?x))
      (forall (?y - thing) (not (held ?y)))
      (not (exists (?r - thing) (and (contained ?x ?r) (openable ?r) (not (is_open ?r))))))
    :effect (and (held ?x) (forall (?r - thing) (not (contained ?x ?r)))))

  ; What is held goes there.
  (:action put
    :parameters (?r - thing)
    :precondition (and (present ?r) (receptacle ?r) (imply (openable ?r) (is_open ?r))
      (exists (?x - thing) (and (held ?x) (not (= ?x ?r)))))
    :effect (forall (?x - thing) (when (held ?x) (and (not (held ?x)) (contained ?x ?r) (near ?x)
      (when (and (is_toggled ?r) (exists (?h - (either microwave stoveburner toaster coffeemachine)) (= ?h ?r)))
        (is_hot ?x))))))

  ; A microwave opens only while it is off, and runs only while it is closed.
  (:action open
    :parameters (?x - thing)
    :precondition (and (present ?x) (openable ?x) (not (is_open ?x))
      (not (and (is_toggled ?x) (exists (?m - microwave) (= ?m ?x)))))
    :effect (is_open ?x))

  (:action close
    :parameters (?x - thing)
    :precondition (and (present ?x) (openable ?x) (is_open ?x))
    :effect (not (is_open ?x)))

  (:action turn_on
    :parameters (?x - thing)
    :precondition (and (present ?x) (toggleable ?x) (not (is_toggled ?x)) (not (is_broken ?x))
      (not (and (is_open ?x) (exists (?m - microwave) (= ?m ?x)))))
    :effect (and (is_toggled ?x)
      (forall (?y - thing) (when (controls ?x ?y) (is_toggled ?y)))
      (forall (?h - (either microwave stoveburner toaster coffeemachine) ?y - thing)
        (when (and (contained ?y ?h) (or (= ?h ?x) (controls ?x ?h))) (is_hot ?y)))))

  (:action turn_off
    :parameters (?x - thing)
    :precondition (and (present ?x) (toggleable ?x) (is_toggled ?x))
    :effect (and (not (is_toggled ?x)) (forall (?y - thing) (when (controls ?x ?y) (not (is_toggled ?y))))))

  (:action slice
    :parameters (?x - thing)
    :precondition (and (present ?x) (sliceable ?x) (not (is_sliced ?x)))
    :effect (and (is_sliced ?x)
      (forall (?p - thing) (when (piece_of ?p ?x) (and (present ?p) (near ?p))))
      (forall (?p ?r - thing) (when (and (piece_of ?p ?x) (contained ?x ?r)) (contained ?p ?r)))))

  (:action break
    :parameters (?x - thing)
    :precondition (and (present ?x) (breakable ?x) (not (is_broken ?x)))
    :effect (and (is_broken ?x)
      (forall (?p - thing) (when (piece_of ?p ?x) (and (present ?p) (near ?p))))
      (forall (?p ?r - thing) (when (and (piece_of ?p ?x) (contained ?x ?r)) (contained ?p ?r)))))

  (:action cook
    :parameters (?x - thing)
    :precondition (and (present ?x) (cookable ?x))
    :effect (and (is_cooked ?x) (is_hot ?x)))

  (:action dirty
    :parameters (?x - thing)
    :precondition (and (present ?x) (dirtyable ?x) (not (is_dirty ?x)))
    :effect (is_dirty ?x))

  (:action clean
    :parameters (?x - thing)
    :precondition (and (present ?x) (dirtyable ?x) (is_dirty ?x))
    :effect (not (is_dirty ?x)))

  (:action fill
    :parameters (?x - thing ?l - liquid)
    :precondition (and (present ?x) (fillable ?x) (not (is_filled ?x)))
    :effect (and (is_filled ?x) (filled_with ?x ?l)))

  (:action empty
    :parameters (?x - thing)
    :precondition (and (present ?x) (is_filled ?x))
    :effect (and (not (is_filled ?x)) (forall (?l - liquid) (not (filled_with ?x ?l)))))

  ; What is in the held thing runs out, over what was found last.
  (:action pour
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (and
      (forall (?x - thing) (when (held ?x) (not (is_filled ?x))))
      (forall (?x - thing ?l - liquid) (when (held ?x) (not (filled_with ?x ?l))))
      (forall (?x ?y - thing ?l - liquid)
        (when (and (held ?x) (filled_with ?x ?l) (found ?y) (not (= ?x ?y))) (spilt_on ?y ?l)))))

  (:action drop
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (forall (?x - thing) (when (held ?x) (and (not (held ?x)) (fallen ?x)))))

  ; A thrown thing breaks if it can.
  (:action throw
    :parameters ()
    :precondition (exists (?x - thing) (held ?x))
    :effect (forall (?x - thing)
      (when (held ?x) (and (not (held ?x)) (fallen ?x) (when (breakable ?x) (is_broken ?x)))))))
