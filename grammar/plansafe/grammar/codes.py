"""All codes of diagnostics, in one table: name, code, and the title of its page (``safecheck --explain CODE``)."""

from __future__ import annotations

from typing import Final


class SC:
    """The codes of diagnostics. A code is never reused with another meaning."""

    # Reading files and worlds.
    UNREADABLE_FILE: Final = "SC001"  # cannot read the file
    UNBALANCED: Final = "SC002"  # unbalanced parentheses or quotes
    STRUCTURE: Final = "SC003"  # invalid structure
    UNSUPPORTED: Final = "SC004"  # unsupported construct
    NOT_UTF8: Final = "SC005"  # not UTF-8
    UNREADABLE_WORLD: Final = "SC010"  # invalid file of a home world
    FOREIGN_LINE: Final = "SC011"  # plan line not in the format of the home world
    AMBIGUOUS_OBJECT: Final = "SC012"  # ambiguous object
    FOREIGN_SCENE: Final = "SC013"  # unknown class, property, state or relation in the scene
    AMBIGUOUS_TASK: Final = "SC014"  # ambiguous task
    FOREIGN_FORMULA: Final = "SC015"  # formula cannot be translated

    # Domains, problems and specifications.
    UNKNOWN_TYPE: Final = "SC101"  # unknown type
    UNKNOWN_PREDICATE: Final = "SC102"  # unknown predicate
    ARITY: Final = "SC103"  # wrong number of arguments
    TYPE_MISMATCH: Final = "SC104"  # type mismatch
    DECLARED_TWICE: Final = "SC105"  # declared twice
    CYCLE: Final = "SC106"  # cycle
    UNBOUND_VARIABLE: Final = "SC107"  # unbound variable
    UNKNOWN_OBJECT: Final = "SC108"  # unknown object
    UNKNOWN_FUNCTION: Final = "SC109"  # unknown function
    NOT_STRATIFIED: Final = "SC110"  # derived predicates are not stratified
    CONTRADICTORY_INIT: Final = "SC111"  # contradictory initial state
    MISPLACED_OPERATOR: Final = "SC112"  # operator not allowed here
    FUTURE_IN_PAST: Final = "SC113"  # future operator inside a past operator
    UNKNOWN_ACTION_IN_RULE: Final = "SC114"  # unknown action in a rule
    UNKNOWN_RULE_NAME: Final = "SC115"  # unknown rule, template, macro or preference
    UNKNOWN_SPECIFICATION: Final = "SC116"  # extended specification not found
    NO_WORLD: Final = "SC117"  # no possible world
    VOCABULARY: Final = "SC120"  # vocabulary not bound
    CONTRADICTORY_PARTS: Final = "SC121"  # contradictory parts of a factored task

    # Violated rules.
    PROCESS_VIOLATED: Final = "SC201"  # process rule violated
    TRAJECTORY_VIOLATED: Final = "SC202"  # trajectory rule violated
    TERMINATION_VIOLATED: Final = "SC203"  # termination rule violated
    OBLIGATION_PENDING: Final = "SC204"  # obligation not fulfilled
    CONSTRAINT_VIOLATED: Final = "SC205"  # constraint violated

    # Steps that cannot be executed, and the goal.
    PRECONDITION: Final = "SC301"  # precondition not satisfied
    UNDEFINED_NUMBER: Final = "SC302"  # undefined number or division by zero
    CONFLICTING_EFFECTS: Final = "SC303"  # conflicting effects
    INTERFERENCE: Final = "SC304"  # interfering simultaneous actions
    DURATION: Final = "SC305"  # duration not allowed
    OVER_ALL: Final = "SC306"  # condition over all violated
    GOAL: Final = "SC310"  # goal not reached

    # Ill-formed steps.
    UNKNOWN_ACTION: Final = "SC401"  # unknown action
    STEP_ARITY: Final = "SC402"  # wrong number of arguments in a step
    STEP_OBJECT: Final = "SC403"  # unknown object in a step
    STEP_TYPE: Final = "SC404"  # argument of the wrong type in a step
    UNTIMED_DURATIVE: Final = "SC405"  # durative action without time or duration
    IMPOSSIBLE_TIME: Final = "SC406"  # impossible time
    STEP_ORDER: Final = "SC407"  # invalid order of steps

    # Limits and undefined values.
    NUMBER_TOO_LARGE: Final = "SC501"  # number too large
    OUT_OF_TIME: Final = "SC502"  # out of time
    TOO_MANY_INSTANCES: Final = "SC503"  # too many instances
    RULE_UNDEFINED: Final = "SC504"  # a rule reads an undefined number
    OUT_OF_MEMORY: Final = "SC505"  # out of memory
    NEEDS_ONE_WORLD: Final = "SC507"  # the engine cannot check this task
    CONTINUOUS_TIME: Final = "SC508"  # not available in continuous time
    UNDECIDED_COURSE: Final = "SC509"  # course of the numbers not decided
    ENDLESS_CASCADE: Final = "SC510"  # events without end

    # Files, options and projects.
    NO_FILE: Final = "SC601"  # file not found
    NO_DOMAIN: Final = "SC602"  # no domain found
    NO_PROBLEM: Final = "SC603"  # no problem found
    NOT_A_PLAN: Final = "SC604"  # not a plan
    NOTHING_TO_CHECK: Final = "SC605"  # no rule had anything to check
    OUTSIDE_FOLDER: Final = "SC606"  # path outside the plan's folder
    BAD_OPTION: Final = "SC607"  # bad option
    NO_SOLVER: Final = "SC608"  # no solver is installed
    NOT_EXPLICIT: Final = "SC609"  # the explicit engine cannot check this task
    UNKNOWN_WORLD: Final = "SC610"  # unknown home world
    GATE_WITHOUT_RULES: Final = "SC620"  # no rules under --gate
    RULES_LEFT_OUT: Final = "SC621"  # the plan would leave out rules
    BAD_PROJECT_FILE: Final = "SC622"  # bad project file
    PROJECT_FILE_EXISTS: Final = "SC623"  # project file exists already
    BAD_HOME: Final = "SC624"  # bad home profile
    UNKNOWN_IN_HOME: Final = "SC625"  # unknown name in the home profile
    IDLE_EXEMPTION: Final = "SC626"  # exemption that can never be used
    BAD_BASELINE: Final = "SC627"  # bad baseline
    ALLOWANCE_REFUSED: Final = "SC628"  # a plan may not allow a rule
    BAD_ALLOWANCE: Final = "SC629"  # malformed allow comment
    UNKNOWN_MODEL: Final = "SC630"  # unknown model
    NO_WEIGHTS: Final = "SC631"  # weights not found
    UNREAD_WEIGHTS: Final = "SC632"  # weights cannot be loaded
    MODEL_PACKAGE_MISSING: Final = "SC633"  # a package for models is not installed
    MODEL_FAILED: Final = "SC634"  # no answer from the model
    MODEL_KEY: Final = "SC635"  # API key missing or rejected
    BAD_ANSWER_CACHE: Final = "SC636"  # answer cache cannot be used
    MODEL_UNABLE: Final = "SC637"  # the model does not support this
    BAD_RECORD: Final = "SC638"  # recorded answers cannot be read
    NO_RECORDED_ANSWER: Final = "SC639"  # no recorded answer for a request
    NOT_WRITTEN: Final = "SC640"  # output not written
    LINK_OUTSIDE_FOLDER: Final = "SC641"  # a link leads out of the folder
    BAD_PREDICTIONS: Final = "SC642"  # predictions cannot be read
    BAD_RUN: Final = "SC643"  # a run cannot be read or resumed
    NOT_A_RULE: Final = "SC645"  # the answer is not a rule
    NOT_EXPRESSIBLE: Final = "SC646"  # the sentence cannot be expressed as a rule
    NO_MAJORITY: Final = "SC647"  # samples do not agree on a rule
    BAD_ROW: Final = "SC648"  # table row without a plan
    BAD_TRAINING_DATA: Final = "SC650"  # training data cannot be read
    PAIR_DOES_NOT_REPLAY: Final = "SC651"  # pair does not match its record
    NO_PAIRS: Final = "SC652"  # no pairs found
    BAD_REQUEST: Final = "SC680"  # bad request
    NOT_FOUND: Final = "SC681"  # not found
    NO_SESSION: Final = "SC682"  # no such session
    SERVICE_LIMIT: Final = "SC683"  # limit of the service reached
    BAD_KEY: Final = "SC684"  # API key missing or wrong
    TASK_NOT_MONITORABLE: Final = "SC685"  # a session cannot monitor this task
    WRONG_POSITION: Final = "SC686"  # session at another position
    AGENTS_PACKAGE_MISSING: Final = "SC687"  # a package for agents is not installed

    BAD_TRAINING_CONFIG: Final = "SC660"  # bad training configuration
    BAD_TRAINING_RUN: Final = "SC661"  # training run cannot be started or resumed

    # Notes, loose text, the linter, scenarios.
    RULE_NEVER_APPLIED: Final = "SC701"  # no rule applied
    RULE_NOT_APPLICABLE: Final = "SC702"  # rule not applicable
    UNKNOWN_REQUIREMENT: Final = "SC703"  # unknown requirement
    TYPE_MISMATCH_ACCEPTED: Final = "SC704"  # type mismatch, accepted
    OTHER_DOMAIN: Final = "SC705"  # written for another domain
    DIALECT: Final = "SC706"  # read as a dialect
    IDLE_DURATION: Final = "SC707"  # duration of an instantaneous action
    ROUNDED_TIMES: Final = "SC708"  # rounded times
    REMARK_NOT_UNDERSTOOD: Final = "SC710"  # remark not understood
    OBJECT_NOT_CLASSIFIED: Final = "SC711"  # object not classified
    UNDECIDED_DANGER: Final = "SC712"  # undecided danger of the initial state
    TEXT_LEFT_OUT: Final = "SC730"  # text left out
    REASONING_LEFT_OUT: Final = "SC731"  # reasoning left out
    OTHER_NOTATION: Final = "SC732"  # plan in another notation
    SPELT_DIFFERENTLY: Final = "SC733"  # name spelt differently
    AGENT_ADDED: Final = "SC734"  # acting object added
    PLACED_BY_NAME: Final = "SC735"  # arguments placed by name
    WORD_LEFT_OUT: Final = "SC736"  # number, type or speaker left out
    PLAN_REPEATED: Final = "SC737"  # plan repeated
    CHARACTERS_REPLACED: Final = "SC738"  # characters replaced
    READ_AS_WRITTEN: Final = "SC739"  # step read as written
    NO_PLAN: Final = "SC740"  # no plan in the text
    TEXT_CUT_OFF: Final = "SC741"  # text is cut off
    TEXT_DECLINES: Final = "SC742"  # text declines
    PLANS_DIFFER: Final = "SC743"  # plans that differ
    AMBIGUOUS_NAME: Final = "SC744"  # ambiguous name
    MORE_THAN_A_SEQUENCE: Final = "SC745"  # more than a sequence
    NOT_UNDERSTOOD: Final = "SC746"  # not understood
    TEXT_TOO_LARGE: Final = "SC747"  # text too large
    UNPLACED_ARGUMENT: Final = "SC748"  # argument cannot be assigned
    NUMBERS_OUT_OF_ORDER: Final = "SC749"  # numbers out of order
    RULE_NEVER_VIOLATED: Final = "SC750"  # a rule that can never be violated
    RULE_NEVER_SATISFIED: Final = "SC751"  # a rule that can never be satisfied
    RULES_CONTRADICT: Final = "SC752"  # rules that contradict each other
    UNUSABLE_ACTION: Final = "SC753"  # rules make an action unusable
    UNSAFE_GOAL: Final = "SC754"  # a goal that cannot be reached safely
    REDUNDANT_RULE: Final = "SC755"  # a redundant rule
    RULE_WITHOUT_INFLUENCE: Final = "SC756"  # a rule that no action can influence
    RULE_WITHOUT_INSTANCE: Final = "SC757"  # a rule without instance in the given problems
    IDLE_PART: Final = "SC758"  # idle or missing part of a rule
    UNDECIDED_QUESTION: Final = "SC759"  # undecided question
    GAP_UNREAD: Final = "SC760"  # gap: not covered by any rule
    GAP_SIBLING: Final = "SC761"  # gap: sibling of a rule
    GAP_LEFT_BEHIND: Final = "SC762"  # gap: state left at the end
    GAP_COMBINATION: Final = "SC763"  # gap: combination that no rule covers
    GAP_LIBRARY: Final = "SC764"  # gap: rule of a shipped specification
    SCENARIO_UNDECLARED: Final = "SC765"  # undeclared name in a scenario
    SCENARIO_MALFORMED_ACTION: Final = "SC766"  # a new action is malformed
    SCENARIO_REDECLARES: Final = "SC767"  # a scenario redeclares a name of its base
    SCENARIO_DEAD_ACTION: Final = "SC768"  # a new action can never be taken
    SCENARIO_UNREACHABLE_GOAL: Final = "SC769"  # the goal of a scenario cannot be reached
    SCENARIO_ONE_SIDED: Final = "SC770"  # a scenario lacks a safe or an unsafe plan
    SCENARIO_TOO_SHORT: Final = "SC771"  # a scenario is solved in too few steps
    SCENARIO_MANY_PLANS: Final = "SC772"  # a scenario has too many different plans
    SCENARIO_REFERENCE_FAILS: Final = "SC773"  # a reference plan does not reach the goal
    SCENARIO_UNCORRECTED: Final = "SC774"  # a mistake without an automatic correction
    BAD_TAXONOMY: Final = "SC775"  # bad taxonomy table
    BAD_DETECTOR: Final = "SC776"  # bad safety detector table
    TAXONOMY_GAP: Final = "SC777"  # a gap between taxonomy and rules
    BAD_SCENARIO: Final = "SC778"  # bad scenario description
    BAD_SHEET: Final = "SC779"  # bad review sheet

    # Repairs and certificates.
    NO_REPAIR_FOUND: Final = "SC801"  # no repair found
    NO_REPAIR_EXISTS: Final = "SC802"  # no repair exists
    TIMED_REPAIR: Final = "SC803"  # plans with times cannot be repaired
    MODEL_REFUSED: Final = "SC804"  # model refused the task
    NO_GOAL: Final = "SC805"  # no goal in the model's answer
    CERTIFICATE_REJECTED: Final = "SC810"  # certificate rejected
    NOT_A_CERTIFICATE: Final = "SC811"  # not a certificate

    # The program itself.
    INTERNAL_ERROR: Final = "SC900"  # internal error
    KERNEL_DISAGREES: Final = "SC901"  # kernel and engine disagree
