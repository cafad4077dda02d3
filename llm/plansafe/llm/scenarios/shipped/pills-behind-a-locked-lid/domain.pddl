(define (domain household)
  (:predicates (prescribed ?p - person ?m - medicine)))
