# steno: British spellings in American ones. SPDX-License-Identifier: MIT
"""Rules of spelling, with the words that they hold for or leave alone."""
from __future__ import annotations

import re
from typing import Iterable

# -our, with what follows: colour, colourful, colouring
OUR = """arb ard arm behavi cand clam clang col demean dol enam endeav fav ferv flav harb hon hum lab misdemean neighb od parl ranc rig rum savi sav
splend succ tum val vap vig""".split()
BEFORE_OUR = "be bi dis in mis multi out over re techni tri un vari water".split()
# -re: metre, kilometre; these alone: sabre
UNITS = "cent fib lit met theat".split()
RE = "accout calib goit lacklust lust meag mit nit och reconnoit sab saltpet scept sepulch somb spect tit".split()
AFTER_RE = "board fold folds glass goer goers ly ness piece pieces s".split()
# -ise that is no suffix
ISE = """advertise advise affranchise anise apprise arise cerise chastise chemise circumcise comprise compromise concise counterpoise demise
denise despise devise disguise elise enfranchise enterprise excise exercise expertise franchise frise guise improvise incise marquise
merchandise mise moonrise mortise paradise precise premise prise promise reprise revise rise sunrise supervise surmise surprise
televise tortoise treatise turquoise valise vise wise
amaryllise cannabise chrysalise clematise clitorise crise epidermise finise glottise ibise irise mantise megalopolise metropolise pelvise penise portcullise précise proboscise trellise verdigrise""".split()
BEFORE_ISE = "counter de dis en epi high im in mis non out over pre re un under up".split()
# -ll- after a syllable without stress: travelled, traveller, travelling
LL = """apparel barrel bushel bedevil bejewel bevel cancel carol cavil channel chisel corbel counsel cudgel devil dial dishevel disembowel dowel drivel duel
empanel enamel equal fuel funnel gambol gravel grovel hovel impanel imperil initial jewel kennel label laurel level libel marshal marvel medal metal model
outrival panel parcel pedal pencil peril pistol pommel pummel quarrel ravel refuel relabel remodel revel rival rowel shovel shrivel signal
snivel snorkel spiral squirrel stencil swivel tassel teasel tinsel total towel trammel travel trial trowel tunnel unravel victual weasel yodel""".split()
AFTER_LL = "able ed er ers est ing ingly ings ist ists or ors ous ously".split()
# -l where American English has -ll: fulfil, fulfilment
L = "appal distil enrol enthral fulfil instal instil".split()
YSE = "anal breathal catal dial electrol hydrol paral psychoanal".split()
OGUE = "anal catal dial homol".split()
# ae and oe of Greek and Latin, anywhere in a word
DIGRAPHS = {
    "aetiolog": "etiolog", "anaem": "anem", "anaesth": "anesth", "apnoea": "apnea", "caecum": "cecum", "caesarean": "cesarean", "caesium": "cesium",
    "coeliac": "celiac", "dyspnoea": "dyspnea", "foetid": "fetid", "paed": "ped", "faec": "fec", "foetal": "fetal", "foetus": "fetus",
    "glycaem": "glycem", "gynaec": "gynec", "haem": "hem", "homoeo": "homeo", "ischaem": "ischem", "leukaem": "leukem",
    "mediaeval": "medieval", "oedema": "edema", "oesoph": "esoph", "oestro": "estro", "oestru": "estru", "palaeo": "paleo", "rrhoe": "rrhe", "septicaem": "septicem",
    "toxaem": "toxem", "uraem": "urem"}
# Stems, with whatever follows
STEMS = {
    "acknowledgement": "acknowledgment", "aerofoil": "airfoil", "aeroplane": "airplane", "aluminium": "aluminum", "artefact": "artifact", "cancelation": "cancellation",
    "baulk": "balk", "behove": "behoove", "carburett": "carburet", "carburetter": "carburetor", "chequed": "checked", "chequer": "checker", "chequing": "checking", "cheque": "check", "cosie": "cozie", "cosily": "cozily", "cosiness": "coziness", "cosy": "cozy", "cypher": "cipher", "defence": "defense",
    "draught": "draft", "enquir": "inquir", "enrolment": "enrollment", "fulfilment": "fulfillment", "gaol": "jail",
    "grey": "gray", "instalment": "installment", "jewellery": "jewelry", "judgement": "judgment", "kerb": "curb", "licence": "license", "liquorice": "licorice",
    "manoeuvr": "maneuver", "manoeuvre": "maneuver", "manoeuvred": "maneuvered", "manoeuvrer": "maneuverer", "mollusc": "mollusk", "mould": "mold", "moult": "molt", "moustache": "mustache", "offence": "offense",
    "plough": "plow", "practis": "practic", "prejudgement": "prejudgment", "pretence": "pretense", "pyjama": "pajama", "rouble": "ruble", "sceptic": "skeptic", "skilful": "skillful",
    "smoulder": "smolder", "snowplough": "snowplow", "sulph": "sulf", "specialit": "specialt", "tranquillity": "tranquility", "tyre": "tire", "updraught": "updraft", "waggon": "wagon", "wilful": "willful",
    "woollen": "woolen", "worshipp": "worship", "yoghourt": "yogurt", "yoghurt": "yogurt"}
WHOLE = {"ageing": "aging", "furore": "furor", "gramme": "gram", "grammes": "grams", "greyhound": "greyhound", "greyhounds": "greyhounds", "kilogramme": "kilogram",
         "kilogrammes": "kilograms", "maths": "math", "milligramme": "milligram", "milligrammes": "milligrams", "programme": "program", "programmes": "programs", "storey": "story", "storeys": "stories"}


def one_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


# s of -ise, -isation; not after a vowel: raise, noise
ISE_WORD = re.compile(r"(.+(?:[b-df-hj-np-tv-z]|qu)i)s(e|ed|es|er|ers|ing|ings|ingly|able|ably|ance|ant|ation|ational|ations|ement|ements)")
NO_SUFFIX = re.compile(rf"{one_of(BEFORE_ISE)}*{one_of(ISE)}|.*wise")
TABLE = {**DIGRAPHS, **STEMS}
RULES = [(re.compile(pattern), spelling) for pattern, spelling in (
    (rf"^({one_of(BEFORE_OUR)}?{one_of(OUR)}o)u(?=r)", r"\1"),
    (rf"^(\w*{one_of(UNITS)}|{one_of(RE)})re(?={one_of(AFTER_RE)}?$)", r"\1er"),
    (rf"^(\w*{one_of(UNITS)}|{one_of(RE)})r(?=(?:ed|ing)$)", r"\1er"),
    (rf"^((?:un)?{one_of(LL)})l(?={one_of(AFTER_LL)}$)", r"\1"),
    (rf"^({one_of(L)})(?=s?$)", r"\1l"),
    (rf"^({one_of(YSE)}y)s(?=(?:e|ed|er|ers|ing|able)$)", r"\1z"),
    (rf"^({one_of(OGUE)}og)(?:ue(?=s?$)|u(?=ed$|er$|ers$|ing$))", r"\1"))]
STEM = re.compile(rf"^{one_of(STEMS)}|{one_of(DIGRAPHS)}")


def american(word: str) -> str:
    """The American spelling of a word in lower case."""
    if word in WHOLE:
        return WHOLE[word]
    for pattern, spelling in RULES:
        word = pattern.sub(spelling, word)
    word = STEM.sub(lambda found: TABLE[found.group()], word)
    found = ISE_WORD.fullmatch(word)
    if found and not NO_SUFFIX.fullmatch(f"{found.group(1)}se"):
        return f"{found.group(1)}z{found.group(2)}"
    return word


class EnglishSpellingNormalizer:
    """American spellings of the words of a text in lower case."""

    def __call__(self, s: str) -> str:
        return " ".join(map(american, s.split()))
