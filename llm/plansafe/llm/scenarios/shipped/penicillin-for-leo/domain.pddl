(define (domain household)
  (:predicates (reacts-to ?p - person ?m - medicine)))
