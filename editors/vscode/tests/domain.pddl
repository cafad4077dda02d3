; SYNTAX TEST "source.pddl" "domains and problems"
; a comment with (words)
; <--------------------- comment.line.semicolon.pddl
(define (domain kitchen)
;^^^^^^ keyword.control.define.pddl
;        ^^^^^^ keyword.other.kind.pddl
;               ^^^^^^^ entity.name.namespace.pddl
  (:types room stove - object)
;  ^^^^^^ keyword.other.section.pddl
;                    ^ keyword.operator.type.pddl
;                      ^^^^^^ entity.name.type.pddl
  (:predicates (on ?s - stove) (at ?r - room))
;               ^^ entity.name.tag.pddl
;                  ^^ variable.parameter.pddl
;                               ^^ entity.name.tag.pddl
  (:action switch-on :parameters (?s - stove)
;  ^^^^^^^ keyword.other.section.pddl
;          ^^^^^^^^^ entity.name.function.pddl
;                    ^^^^^^^^^^^ keyword.other.section.pddl
    :precondition (AND (not (on ?s)) (>= (load) 3.5))
;                  ^^^ keyword.operator.word.pddl
;                       ^^^ keyword.operator.word.pddl
;                            ^^ entity.name.tag.pddl
;                                     ^^ keyword.operator.arithmetic.pddl
;                                               ^^^ constant.numeric.pddl
    :condition (at start (on ?s)) :nothing x
;               ^^ keyword.operator.temporal.pddl
;                                 ^^^^^^^^ - keyword
    :effect (increase (load) 1))) ; behind
;            ^^^^^^^^ keyword.operator.word.pddl
;                                 ^^^^^^^^ comment.line.semicolon.pddl
