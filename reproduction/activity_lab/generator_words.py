"""Words for the titles and names of `generator`; frozen with it."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


PROJECTS = _words("""
harbour bridge orchard lantern museum railway glacier meadow foundry lighthouse aquarium vineyard
observatory windmill canyon estuary granary theatre tannery quarry pavilion greenhouse reservoir
monastery shipyard brewery arboretum causeway citadel colonnade cooperage ferry fjord garrison
heath hamlet ironworks jetty kiln lagoon mill nursery oasis pasture quay rampart sawmill terrace
upland viaduct wharf acorn basalt cedar dahlia ember falcon garnet heron iris jasmine kestrel
larch maple nettle osprey poplar quartz raven saffron thistle umber violet willow yarrow zinnia
""")

OBJECTS = _words("""
budget survey proposal poster lecture contract report minutes schedule invoice review chapter
abstract slides workshop interview questionnaire dataset figure appendix roadmap release backlog
migration audit inventory catalogue newsletter press leaflet website prototype test benchmark
manual tutorial glossary translation permit insurance lease payroll travel visa conference panel
keynote hiring onboarding appraisal reference grant reimbursement donation tender quote warranty
delivery maintenance upgrade backup incident outage recovery archive licence patent statute policy
exhibition catering playlist rehearsal itinerary renovation floorplan planting irrigation harvest
""")

VERBS = _words("""
Write Review Plan Prepare Fix Answer Revise Collect Check Draft Organise Compare Update Finish
Present Discuss
""")

GENERAL = _words("""
new draft final notes list guide overview version page home how what about introduction summary
meeting question answer help update information documentation example results search index table
data image group project team work plan open question time day week month year first second last
short long part section file document message thread discussion comment issue task list form
request change history settings account profile login welcome download upload official free best
simple easy common error problem solution fix using between without inside model method process
system service tool library reference article news blog forum review video photo map weather shop
price order track ticket train hotel recipe music film book science health sport city country
language english school university research paper journal volume number street office market public
""")

SITES = _words("Wiki Forum News Docs Blog Archive Journal Shop Maps Hub Exchange Library")

SYLLABLES = _words(
    "ka lo mi ren tor vel ash bri dun fel gor hal jin kel mar nor pel ras sol tam ul wen"
)
