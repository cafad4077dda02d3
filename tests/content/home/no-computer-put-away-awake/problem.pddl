(define (problem no-computer-put-away-awake)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    laptop tablet - portable-computer  lamp - electric  bag - container  drawer - drawer  desk - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
