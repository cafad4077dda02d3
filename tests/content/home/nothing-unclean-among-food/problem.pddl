(define (problem nothing-unclean-among-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear fig - food  toy spoon - thing  pen - handled  sponge - absorbent  soap - (either foaming slippery)  peel - (either food slippery)  ball - slippery  page - paper
    sock - clothing  toyduck - soft  plate bowl - tableware  pot - cookware  tray - thing)
  (:init
    (in-room robot kitchen) (full bowl) (upon fig bowl) (inside plum pot) (upon pear plate))
  (:goal (and)))
