"""English cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="en",
    courtesy="""hi hello hey greetings welcome dear good_morning good_afternoon good_evening good_day
        sure certainly absolutely definitely gladly okay ok alright of_course no_problem great_question good_question
        thanks thank welcome sorry apologies apologize apologise pleasure please
        help helps helped helpful helping assist assistance assists happy glad feel_free hesitate don't_hesitate
        do_not_hesitate ask asking reach_out let_me let_us hope enjoy luck best cheers bye goodbye
        have_a_great have_a_nice great_day nice_day look_into look_up check double-check find_out get_back""",
    lead_ins="""here below following follows summary overview answer answers response list steps explanation breakdown
        conclusion example examples note rules sure in_short in_summary in_conclusion to_summarize to_sum_up overall
        summarized summarize points instructions guide guidelines as_follows how_to version translation result results
        breakdown step-by-step brief short concise detailed quick simple possible step""",
    glue="""a an the this that these those it its i i'm i'll i'd i've me my mine you your yours you're you'll you'd we us
        our they them their there here is are was were be been being am do does did have has had can could will would
        may might should shall must to of in on at by for from with about into onto as if when while while and or so
        any anything else more further other another some all very just also again now then well right need needs
        want wants like look looks looking see check checking find finding found get give giving go going know let make
        question questions query request free any additional clarification us one what how which who whom whose why
        where because up out over only still however specific specifically explicitly directly clearly enough
        sufficient clear definitive exact exactly precise relevant related particular actually currently available
        unfortunately therefore thus hence consequently additionally furthermore moreover note noted important worth noting regarding concerning back happy day nice great today moment second minute later soon""",
    sources="""text texts passage passages context contexts document documents documentation source sources article
        articles excerpt excerpts snippet snippets material materials reference references content paragraph
        paragraphs search_results knowledge_base search_result""",
    framing="""based according given provided supplied above retrieved available following per using available
        mentioned presented shared attached""",
    speakers="i i'm i've i'd i'll we we're we've me us",
    negations="""not no none nothing never neither nor without n't don't doesn't didn't isn't aren't wasn't weren't
        hasn't haven't hadn't couldn't wouldn't cannot can't lack lacks lacking fail fails failed nowhere insufficient
        little""",
    inability="""unable cannot can't couldn't can_not could_not not_able not_possible impossible isn't_possible
        not_sure unsure not_enough insufficient""",
    unknowing="""unknown unclear unspecified undisclosed unmentioned unstated undetermined unanswerable
        uncertain""",
    knowledge="""know known knows mention mentions mentioned mentioning state states stated specify specifies
        specified say says said tell tells told answer answers answered answering provide provides provided contain
        contains contained include includes included give gives given describe describes described discuss discusses
        discussed list lists listed indicate indicates indicated explain explains explained determine determined
        find found identify identified address addresses addressed reveal reveals revealed disclose disclosed
        confirm confirmed verify verified cover covers covered detail details detailed clarify clarified name named
        offer offers present presented respond conclude infer inferred sure elaborate deduce
        available answerable refer refers note notes noted derive deduced""",
    information="""information info details detail answer answers mention number date data indication reference
        description explanation figure fact facts name value statement clue knowledge context specifics""",
    assistance="help assist fulfill comply do provide",
    hesitations="hesitate hesitant",
    addressees="you you're you'd you'll one",
    adversatives="but without_doubt no_doubt however yet whereas nevertheless nonetheless",
    conjunctions="and while so",
    concessives="although though while whereas despite",
    complementizers="that whether if",
    subjects="i he she it they we you this that these those there who its their his her",
    auxiliaries="""is are was were has had have will can could does did may might must should would became remains
        cannot""",
    how_many="how_many how_much how_long how_old how_tall how_high how_deep how_far how_often how_big how_large",
    when="when what_year what_date which_year what_time what_day what_month",
    who="who whom whose",
    where="where",
    what="what which",
    why="why how",
    verdicts="yes no yep nope yeah true false correct incorrect",
    sayings="""mentioned stated specified said described discussed indicated disclosed noted addressed detailed clarified""",
)
