"""All codes of diagnostics, in one table: name, code, and the title of its page (``safecheck --explain CODE``)."""

from __future__ import annotations

from typing import Final


class SC:
    """What a diagnostic is about. A code is never given to something else."""

    # Reading files and worlds.
    UNREADABLE_FILE: Final = "SC001"  # cannot read the file
    UNBALANCED: Final = "SC002"  # parentheses or quotes do not match
    STRUCTURE: Final = "SC003"  # the structure is not that of the language
    UNSUPPORTED: Final = "SC004"  # not supported
    NOT_UTF8: Final = "SC005"  # not UTF-8
    UNREADABLE_WORLD: Final = "SC010"  # the file of a world cannot be read
    FOREIGN_LINE: Final = "SC011"  # a line of a plan is not in the format of its world
    AMBIGUOUS_OBJECT: Final = "SC012"  # the plan does not say which object is meant
    FOREIGN_SCENE: Final = "SC013"  # the scene holds something that the domain does not know
    AMBIGUOUS_TASK: Final = "SC014"  # which task is meant is not clear
    FOREIGN_FORMULA: Final = "SC015"  # a formula of the annotations cannot be translated

    # Domains, problems and specifications.
    UNKNOWN_TYPE: Final = "SC101"  # unknown type
    UNKNOWN_PREDICATE: Final = "SC102"  # unknown predicate
    ARITY: Final = "SC103"  # wrong number of arguments
    TYPE_MISMATCH: Final = "SC104"  # type mismatch
    DECLARED_TWICE: Final = "SC105"  # declared twice
    CYCLE: Final = "SC106"  # cycle
    UNBOUND_VARIABLE: Final = "SC107"  # variable not bound
    UNKNOWN_OBJECT: Final = "SC108"  # unknown object
    UNKNOWN_FUNCTION: Final = "SC109"  # unknown function
    NOT_STRATIFIED: Final = "SC110"  # derived predicates are not stratified
    CONTRADICTORY_INIT: Final = "SC111"  # contradictory initial state
    MISPLACED_OPERATOR: Final = "SC112"  # operator not allowed here
    FUTURE_IN_PAST: Final = "SC113"  # future inside past
    UNKNOWN_ACTION_IN_RULE: Final = "SC114"  # unknown action in a rule
    UNKNOWN_RULE_NAME: Final = "SC115"  # unknown rule, template, macro or preference
    UNKNOWN_SPECIFICATION: Final = "SC116"  # cannot find an extended specification
    NO_WORLD: Final = "SC117"  # no world
    VOCABULARY: Final = "SC120"  # vocabulary not bound

    # Rules that a plan breaks.
    PROCESS_VIOLATED: Final = "SC201"  # process rule violated
    TRAJECTORY_VIOLATED: Final = "SC202"  # trajectory rule violated
    TERMINATION_VIOLATED: Final = "SC203"  # termination rule violated
    OBLIGATION_PENDING: Final = "SC204"  # obligation pending
    CONSTRAINT_VIOLATED: Final = "SC205"  # constraint violated

    # Steps that cannot be taken, and the goal.
    PRECONDITION: Final = "SC301"  # precondition not satisfied
    UNDEFINED_NUMBER: Final = "SC302"  # undefined number or division by zero
    CONFLICTING_EFFECTS: Final = "SC303"  # conflicting effects
    INTERFERENCE: Final = "SC304"  # interfering simultaneous actions
    DURATION: Final = "SC305"  # duration not allowed
    OVER_ALL: Final = "SC306"  # condition over all broken
    GOAL: Final = "SC310"  # goal not reached

    # Ill-formed steps.
    UNKNOWN_ACTION: Final = "SC401"  # unknown action
    STEP_ARITY: Final = "SC402"  # wrong number of arguments in a step
    STEP_OBJECT: Final = "SC403"  # unknown object in a step
    STEP_TYPE: Final = "SC404"  # argument of the wrong type in a step
    UNTIMED_DURATIVE: Final = "SC405"  # durative action without time or duration
    IMPOSSIBLE_TIME: Final = "SC406"  # impossible time
    STEP_ORDER: Final = "SC407"  # wrong order of steps

    # What could not be decided.
    NUMBER_TOO_LARGE: Final = "SC501"  # number too large
    OUT_OF_TIME: Final = "SC502"  # out of time
    TOO_MANY_INSTANCES: Final = "SC503"  # too many instances
    RULE_UNDEFINED: Final = "SC504"  # a rule reads an undefined number
    OUT_OF_MEMORY: Final = "SC505"  # out of memory
    NEEDS_ONE_WORLD: Final = "SC507"  # the engine cannot judge this

    # Files, options and projects.
    NO_FILE: Final = "SC601"  # file not found
    NO_DOMAIN: Final = "SC602"  # no domain found
    NO_PROBLEM: Final = "SC603"  # no problem found
    NOT_A_PLAN: Final = "SC604"  # not a plan
    NOTHING_TO_CHECK: Final = "SC605"  # no rule had anything to check
    OUTSIDE_FOLDER: Final = "SC606"  # path outside the plan's folder
    BAD_OPTION: Final = "SC607"  # bad option
    NO_SOLVER: Final = "SC608"  # no solver is installed
    NOT_EXPLICIT: Final = "SC609"  # the explicit engine cannot judge this
    UNKNOWN_WORLD: Final = "SC610"  # unknown world
    GATE_WITHOUT_RULES: Final = "SC620"  # no rules under --gate
    RULES_LEFT_OUT: Final = "SC621"  # the plan would leave out rules
    BAD_PROJECT_FILE: Final = "SC622"  # bad project file
    PROJECT_FILE_EXISTS: Final = "SC623"  # there is a project file already
    BAD_HOME: Final = "SC624"  # bad profile of a home
    UNKNOWN_IN_HOME: Final = "SC625"  # the profile names what is not there
    IDLE_EXEMPTION: Final = "SC626"  # exemption that can never be used
    BAD_BASELINE: Final = "SC627"  # a baseline that cannot be used
    ALLOWANCE_REFUSED: Final = "SC628"  # a plan may not allow a rule
    BAD_ALLOWANCE: Final = "SC629"  # a comment that allows no rule
    UNKNOWN_MODEL: Final = "SC630"  # unknown model
    NO_WEIGHTS: Final = "SC631"  # no weights at this place
    UNREAD_WEIGHTS: Final = "SC632"  # weights that are not read
    MODEL_PACKAGE_MISSING: Final = "SC633"  # a package for models is not installed
    MODEL_FAILED: Final = "SC634"  # a model gave no answer
    MODEL_KEY: Final = "SC635"  # no key, or one that is not accepted
    BAD_ANSWER_CACHE: Final = "SC636"  # answers cannot be kept in this file
    MODEL_UNABLE: Final = "SC637"  # a model cannot do what was asked
    BAD_RECORD: Final = "SC638"  # recorded answers that cannot be read
    NO_RECORDED_ANSWER: Final = "SC639"  # no recorded answer for a request
    NOT_WRITTEN: Final = "SC640"  # not written, because something would be lost
    LINK_LEADS_OUT: Final = "SC641"  # a link leads out of the folder
    BAD_PREDICTIONS: Final = "SC642"  # predictions that cannot be read
    BAD_RUN: Final = "SC643"  # a run that cannot be read or resumed
    NOT_A_RULE: Final = "SC645"  # an answer that is no rule
    NOT_EXPRESSIBLE: Final = "SC646"  # a sentence that no rule can say
    NO_MAJORITY: Final = "SC647"  # samples that do not agree on a rule
    BAD_ROW: Final = "SC648"  # a row of a table that is no plan
    BAD_TRAINING_DATA: Final = "SC650"  # training data that cannot be read
    PAIR_DOES_NOT_REPLAY: Final = "SC651"  # a pair is not what it says
    NO_PAIRS: Final = "SC652"  # no pairs were found
    BAD_REQUEST: Final = "SC680"  # a request that is not understood
    NOT_THERE: Final = "SC681"  # nothing of that name is there
    NO_SESSION: Final = "SC682"  # no such session
    SERVICE_LIMIT: Final = "SC683"  # a limit of the service
    BAD_KEY: Final = "SC684"  # no key, or a wrong one
    NOT_WATCHED: Final = "SC685"  # a task that no session can watch
    WRONG_POSITION: Final = "SC686"  # a session that stands elsewhere
    DOOR_PACKAGE_MISSING: Final = "SC687"  # a package for agents is not installed
    BAD_PACK: Final = "SC670"  # a pack that is refused
    NOT_PACKED: Final = "SC671"  # something that cannot be packed

    BAD_TRAINING_CONFIG: Final = "SC660"  # a configuration of training that cannot be used
    BAD_TRAINING_RUN: Final = "SC661"  # a training run that cannot be begun or resumed

    # Notes, loose text, the linter, scenarios.
    RULE_NEVER_APPLIED: Final = "SC701"  # no rule ever applied
    RULE_NOT_APPLICABLE: Final = "SC702"  # rule not applicable
    UNKNOWN_REQUIREMENT: Final = "SC703"  # unknown requirement
    TYPE_MISMATCH_ACCEPTED: Final = "SC704"  # type mismatch, accepted
    OTHER_DOMAIN: Final = "SC705"  # written for another domain
    DIALECT: Final = "SC706"  # read as a dialect
    IDLE_DURATION: Final = "SC707"  # a duration that means nothing
    ROUNDED_TIMES: Final = "SC708"  # rounded times
    REMARK_NOT_UNDERSTOOD: Final = "SC710"  # remark not understood
    OBJECT_NOT_CLASSIFIED: Final = "SC711"  # object not classified
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
    TEXT_BREAKS_OFF: Final = "SC741"  # text breaks off
    TEXT_DECLINES: Final = "SC742"  # text declines
    PLANS_DIFFER: Final = "SC743"  # plans that differ
    AMBIGUOUS_NAME: Final = "SC744"  # name that fits twice
    MORE_THAN_A_SEQUENCE: Final = "SC745"  # more than a sequence
    NOT_UNDERSTOOD: Final = "SC746"  # not understood
    TEXT_TOO_LARGE: Final = "SC747"  # text too large
    UNPLACED_ARGUMENT: Final = "SC748"  # argument without a place
    NUMBERS_OUT_OF_ORDER: Final = "SC749"  # numbers out of order
    NEVER_BROKEN: Final = "SC750"  # a rule that can never be broken
    NEVER_KEPT: Final = "SC751"  # a rule that can never be kept
    RULES_CONTRADICT: Final = "SC752"  # rules that contradict each other
    UNUSABLE_ACTION: Final = "SC753"  # an action that rules make unusable
    UNSAFE_GOAL: Final = "SC754"  # a goal that cannot be reached safely
    REDUNDANT_RULE: Final = "SC755"  # a redundant rule
    RULE_WITHOUT_INFLUENCE: Final = "SC756"  # a rule about what no action can change
    RULE_WITHOUT_INSTANCE: Final = "SC757"  # a rule without instance in the given problems
    IDLE_PART: Final = "SC758"  # a part of a rule that does nothing, or is missing
    UNDECIDED_QUESTION: Final = "SC759"  # a question that was not decided
    GAP_UNREAD: Final = "SC760"  # a gap: what no rule reads
    GAP_SIBLING: Final = "SC761"  # a gap: a sibling of a rule
    GAP_LEFT_BEHIND: Final = "SC762"  # a gap: something is left
    GAP_COMBINATION: Final = "SC763"  # a gap: a combination that no rule covers
    GAP_LIBRARY: Final = "SC764"  # a gap: a rule of a library
    SCENARIO_UNDECLARED: Final = "SC765"  # a scenario does not declare what it uses
    SCENARIO_MALFORMED_ACTION: Final = "SC766"  # a new action is malformed
    SCENARIO_REDECLARES: Final = "SC767"  # a scenario declares something of its base in another way
    SCENARIO_DEAD_ACTION: Final = "SC768"  # a new action can never be taken
    SCENARIO_UNREACHABLE_GOAL: Final = "SC769"  # the goal of a scenario cannot be reached
    SCENARIO_ONE_SIDED: Final = "SC770"  # a scenario has no safe way, or no unsafe one
    SCENARIO_TOO_SHORT: Final = "SC771"  # a scenario is solved in too few steps
    SCENARIO_MANY_WAYS: Final = "SC772"  # a scenario has more than one way to its goal
    SCENARIO_REFERENCE_FAILS: Final = "SC773"  # a reference plan does not reach the goal
    SCENARIO_UNCORRECTED: Final = "SC774"  # a mistake that no rule corrects
    BAD_TAXONOMY: Final = "SC775"  # a table of taxonomies cannot be used
    BAD_DETECTOR: Final = "SC776"  # a safety detector's table cannot be used
    TAXONOMY_GAP: Final = "SC777"  # a gap between taxonomy and rules
    BAD_SCENARIO: Final = "SC778"  # the description of a scenario cannot be used
    BAD_SHEET: Final = "SC779"  # a review sheet cannot be used

    # Repairs and certificates.
    NO_REPAIR_FOUND: Final = "SC801"  # no repair found
    NO_REPAIR_EXISTS: Final = "SC802"  # no repair exists
    TIMED_REPAIR: Final = "SC803"  # plans with times are not repaired
    MODEL_REFUSED: Final = "SC804"  # a model refused the task
    NO_GOAL: Final = "SC805"  # no goal in the words of a model
    CERTIFICATE_REJECTED: Final = "SC810"  # the certificate is rejected
    NOT_A_CERTIFICATE: Final = "SC811"  # not a certificate

    # The program itself.
    INTERNAL_ERROR: Final = "SC900"  # internal error
    KERNEL_DISAGREES: Final = "SC901"  # kernel and engine disagree
