; A kettle that heats water and switches itself off when it boils; without water it overheats.

(define (domain kettle)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types kettle)
  (:predicates (on ?k - kettle) (boiled ?k - kettle) (tea))
  (:functions
    (temperature ?k - kettle)                        ; degrees Celsius
    (water ?k - kettle))                             ; litres

  (:process heat                                     ; a litre warms by 20 degrees a minute
    :parameters (?k - kettle)
    :precondition (on ?k)
    :effect (increase (temperature ?k) (* #t (/ 20 (water ?k)))))

  (:process cool                                     ; half a degree a minute
    :parameters (?k - kettle)
    :precondition (and (not (on ?k)) (> (temperature ?k) 20))
    :effect (decrease (temperature ?k) (* #t 0.5)))

  (:event boil                                       ; the kettle switches itself off
    :parameters (?k - kettle)
    :precondition (and (on ?k) (>= (temperature ?k) 100))
    :effect (and (boiled ?k) (not (on ?k))))

  (:action switch-on :parameters (?k - kettle) :effect (on ?k))
  (:action switch-off :parameters (?k - kettle) :precondition (on ?k) :effect (not (on ?k)))
  (:action make-tea
    :parameters (?k - kettle)
    :precondition (and (boiled ?k) (>= (temperature ?k) 95))
    :effect (tea)))
