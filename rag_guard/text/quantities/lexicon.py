"""Month, unit, currency and magnitude words of many languages, read from Unicode CLDR through Babel.

Tables are built once, on the first use: importing this module loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rag_guard.text.quantities.folding import fold, nfc

LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "ca", "sv", "da", "nb", "fi", "cs", "pl", "ru", "eu", "ar", "fa", "hi", "zh", "ja", "ko",
)  # fmt: skip
"""Languages whose words are known, in the order in which an ambiguous word is resolved."""

COMMA_DECIMAL = frozenset("de fr es it pt nl ca sv da nb no nn fi cs pl ru eu uk tr ro hu bg el hr sk sl".split())
"""Languages that write a decimal comma."""

# Names of units that are everyday counting nouns, or that no document means when it uses the word.
_NOT_UNITS = frozenset(
    "length-point graphics-dot graphics-em concentr-item concentr-part concentr-ofglucose angle-revolution length-chain length-rod "
    "volume-drop volume-pinch volume-jigger volume-dram speed-light-speed speed-beaufort length-sun length-ri-jp length-rin length-ken "
    "length-jo-jp length-shaku-length length-shaku-cloth area-bu-jp area-se-jp area-cho mass-fun volume-to-jp volume-koku volume-sai "
    "volume-shaku volume-cup-jp volume-osaji volume-kosaji energy-foodcalorie duration-year-person duration-month-person "
    "duration-week-person duration-day-person mass-slug angle-steradian concentr-permyriad temperature-generic acceleration-g-force "
    "duration-quarter energy-gray pressure-ofhg pressure-gasoline-energy-density".split()
)
_PINT_NAMES = {
    "mass-ton": "short_ton", "mass-tonne": "metric_ton", "mass-ounce-troy": "troy_ounce", "mass-earth-mass": "earth_mass",
    "mass-solar-mass": "solar_mass", "temperature-celsius": "degree_Celsius", "temperature-fahrenheit": "degree_Fahrenheit",
    "temperature-kelvin": "kelvin", "temperature-rankine": "degree_Rankine", "angle-arc-minute": "arcminute", "angle-arc-second": "arcsecond",
    "length-mile-scandinavian": "10*kilometer", "length-astronomical-unit": "astronomical_unit", "length-light-year": "light_year",
    "length-nautical-mile": "nautical_mile", "length-milliinch": "thou", "volume-acre-foot": "acre*foot", "volume-gallon-imperial":
    "imperial_gallon", "volume-pint-imperial": "imperial_pint", "volume-quart-imperial": "imperial_quart", "volume-cup-imperial":
    "imperial_cup", "volume-fluid-ounce": "fluid_ounce", "volume-fluid-ounce-imperial": "imperial_fluid_ounce", "volume-pint-metric":
    "500*milliliter", "volume-cup-metric": "250*milliliter", "volume-barrel": "oil_barrel", "force-pound-force": "force_pound",
    "pressure-pound-force-per-square-inch": "psi", "pressure-millimeter-ofhg": "mmHg", "pressure-inch-ofhg": "inHg",
    "energy-british-thermal-unit": "british_thermal_unit", "energy-kilowatt-hour": "kilowatt*hour", "area-dunam": "1000*meter**2",
    "electric-ohm": "ohm", "consumption-liter-per-100-kilometer": "liter/(100*kilometer)", "consumption-mile-per-gallon-imperial":
    "mile/imperial_gallon", "torque-newton-meter": "newton*meter", "torque-pound-force-foot": "force_pound*foot", "duration-night": "day",
    "concentr-part-per-1e6": "ppm", "concentr-part-per-1e9": "ppb", "concentr-permille": "permille", "concentr-percent": "percent",
    "acceleration-meter-per-square-second": "meter/second**2", "power-horsepower": "horsepower", "volume-bushel": "bushel",
    "concentr-karat": "karat", "graphics-megapixel": "megapixel", "graphics-dot-per-inch": "dot/inch", "mass-grain": "grain",
    "energy-therm-us": "US_therm",
}  # fmt: skip

_SYMBOLS = """
km=kilometer m=meter dm=decimeter cm=centimeter mm=millimeter µm=micrometer um=micrometer nm=nanometer pm=picometer mi=mile yd=yard yds=yard
ft=foot nmi=nautical_mile ly=light_year pc=parsec kpc=kiloparsec Mpc=megaparsec AU=astronomical_unit au=astronomical_unit
kg=kilogram g=gram mg=milligram µg=microgram ug=microgram mcg=microgram ng=nanogram t=metric_ton kt=kilometric_ton Mt=megametric_ton oz=ounce lb=pound lbs=pound
l=liter L=liter dl=deciliter dL=deciliter cl=centiliter cL=centiliter ml=milliliter mL=milliliter hl=hectoliter hL=hectoliter µl=microliter µL=microliter
gal=gallon qt=quart pt=pint tbsp=tablespoon tsp=teaspoon cc=centimeter**3 bbl=oil_barrel
ha=hectare sqm=meter**2 sqft=foot**2 sqkm=kilometer**2 qm=meter**2 m2=meter**2 km2=kilometer**2 cm2=centimeter**2 mm2=millimeter**2 m3=meter**3
cm3=centimeter**3 dm3=decimeter**3 km3=kilometer**3 mm3=millimeter**3 ft2=foot**2 ft3=foot**3
s=second sec=second secs=second ms=millisecond µs=microsecond us=microsecond ns=nanosecond min=minute mins=minute h=hour hr=hour hrs=hour std=hour Std=hour d=day
wk=week wks=week mo=month mos=month yr=year yrs=year
Hz=hertz kHz=kilohertz MHz=megahertz GHz=gigahertz THz=terahertz rpm=revolutions_per_minute bpm=count/minute
W=watt kW=kilowatt MW=megawatt GW=gigawatt TW=terawatt mW=milliwatt hp=horsepower bhp=horsepower PS=metric_horsepower kWp=kilowatt MWp=megawatt
Wh=watt*hour kWh=kilowatt*hour MWh=megawatt*hour GWh=gigawatt*hour TWh=terawatt*hour J=joule kJ=kilojoule MJ=megajoule GJ=gigajoule cal=calorie kcal=kilocalorie
Cal=kilocalorie eV=electron_volt keV=kiloelectron_volt MeV=megaelectron_volt GeV=gigaelectron_volt TeV=teraelectron_volt BTU=british_thermal_unit
V=volt kV=kilovolt mV=millivolt A=ampere mA=milliampere mAh=milliampere*hour Ah=ampere*hour Ω=ohm kΩ=kiloohm MΩ=megaohm F=farad µF=microfarad nF=nanofarad pF=picofarad
N=newton kN=kilonewton Nm=newton*meter Pa=pascal hPa=hectopascal kPa=kilopascal MPa=megapascal GPa=gigapascal bar=bar mbar=millibar psi=psi mmHg=mmHg atm=atmosphere
B=byte KB=kilobyte kB=kilobyte MB=megabyte GB=gigabyte TB=terabyte PB=petabyte KiB=kibibyte MiB=mebibyte GiB=gibibyte TiB=tebibyte kb=kilobit Mb=megabit Gb=gigabit Mbit=megabit
Gbit=gigabit kbit=kilobit kbps=kilobit/second Kbps=kilobit/second Mbps=megabit/second Gbps=gigabit/second bps=bit/second MBps=megabyte/second
mph=mile/hour kph=kilometer/hour kmh=kilometer/hour kmph=kilometer/hour kn=knot kts=knot mpg=mile/gallon fps=frame/second
mol=mole mmol=millimole µmol=micromole kDa=kilodalton Da=dalton dB=decibel lm=lumen lx=lux cd=candela K=kelvin Bq=becquerel Sv=sievert mSv=millisievert µSv=microsievert Gy=gray
px=pixel MP=megapixel dpi=dot/inch ppi=pixel/inch ppm=ppm ppb=ppb ct=carat
км=kilometer м=meter см=centimeter мм=millimeter кг=kilogram г=gram мг=milligram т=metric_ton л=liter мл=milliliter ч=hour мин=minute сек=second га=hectare кВт=kilowatt МВт=megawatt
किमी=kilometer मी=meter सेमी=centimeter किग्रा=kilogram کیلومتر=kilometer کیلوگرم=kilogram متر=meter كم=kilometer سم=centimeter كغ=kilogram كغم=kilogram
"""
_WORDS = """
meter metre meters metres metern=meter kilometre kilometres kilometer kilometers kilometern=kilometer centimetre centimetres=centimeter millimetre millimetres=millimeter
micron microns=micrometer feet foot=foot inches inch=inch zoll=inch pulgada pulgadas pouce pouces pollice pollici=inch mile miles=mile yard yards=yard klick=kilometer
litre litres liter liters=liter millilitre millilitres=milliliter gramme grammes=gram kilo kilos=kilogram tonne tonnes=metric_ton tons ton=short_ton tonnen=metric_ton
second seconds=second minute minutes=minute hour hours=hour day days=day week weeks=week month months=month year years=year fortnight fortnights=fortnight
decade decades=decade century centuries=century millennium millennia=millennium night nights=day
tag tage tagen tages=day monat monate monaten=month jahr jahre jahren=year woche wochen=week stunde stunden=hour minuten=minute sekunde sekunden=second jahrhundert jahrhunderte jahrhunderten=century
jahrzehnt jahrzehnte jahrzehnten=decade quadratmeter quadratmetern=meter**2 quadratkilometer quadratkilometern=kilometer**2 kubikmeter kubikmetern=meter**3
jour jours=day mois=month année années an ans=year semaine semaines=week heure heures=hour siècle siècles=century nuit nuits=day
día días dia dias=day mes meses=month año años ano anos=year semana semanas=week hora horas=hour minuto minutos=minute segundo segundos=second siglo siglos século séculos=century
giorno giorni=day mese mesi=month anno anni=year settimana settimane=week ora ore=hour minuti=minute secondi=second secolo secoli=century
dagen dagar dage dager=day maanden månader=month jaar jaren=year weken veckor=week uur uren=hour dygn=day timmar timme=hour
päivää päivän päivässä=day viikkoa viikon=week kuukautta kuukauden=month vuotta vuoden=year tuntia tunnin=hour minuutin=minute metriä metrin=meter kilometriä kilometrin=kilometer
dní dny=day týdnů týdny=week měsíců měsíce=month let roky=year hodin hodiny=hour minut minuty=minute metrů metry=meter kilometrů=kilometer
dies=day setmanes=week mesos=month anys any=year hores=hour minuts=minute metres=meter quilòmetres=kilometer
egun=day aste=week hilabete=month urte=year ordu=hour minutu=minute metro=meter kilometro=kilometer
أيام يوم يوماً=day أسابيع أسبوع=week أشهر شهر شهرًا=month سنوات سنة عام عاماً أعوام=year ساعات ساعة=hour دقيقة دقائق=minute متر متراً أمتار=meter كيلومتر كيلومترا كيلومترات=kilometer
روز=day هفته=week ماه=month سال=year ساعت=hour दिन दिनों=day सप्ताह=week महीने महीनों=month वर्ष वर्षों साल=year घंटे घंटों=hour मिनट=minute मीटर=meter किलोमीटर=kilometer
дней дня день=day лет года год=year часов часа час=hour минут=minute метров метра=meter километров=kilometer dni dnia=day lat lata=year godzin=hour metrów=meter
pounds pound=pound ounce ounces=ounce acre acres=acre hectare hectares=hectare knots knot=knot degrees degree grad grados degrés gradi graus grader astetta stupňů=degree
calories calorie=calorie kilocalories=kilocalorie cup cups=cup pint pints=pint gallon gallons=gallon stone=stone watt watts=watt kilowatts=kilowatt volts=volt amps amp=ampere horsepower=horsepower
kilobytes=kilobyte megabytes=megabyte gigabytes=gigabyte terabytes=terabyte bytes=byte bits=bit
"""
_PHRASES = """
sq ft=foot**2|sq. ft=foot**2|sq feet=foot**2|square foot=foot**2|square feet=foot**2|sq m=meter**2|sq. m=meter**2|sq km=kilometer**2|sq. km=kilometer**2|square metres=meter**2
square metre=meter**2|square kilometres=kilometer**2|square kilometre=kilometer**2|sq mi=mile**2|sq. mi=mile**2|square miles=mile**2|square mile=mile**2|square inches=inch**2|square yards=yard**2
cubic metres=meter**3|cubic metre=meter**3|cubic feet=foot**3|cubic centimetres=centimeter**3|cu ft=foot**3|cu m=meter**3|fl oz=fluid_ounce|fl. oz=fluid_ounce|fluid ounces=fluid_ounce
degrees celsius=degree_Celsius|degree celsius=degree_Celsius|degrees c=degree_Celsius|degrees fahrenheit=degree_Fahrenheit|degree fahrenheit=degree_Fahrenheit|degrees f=degree_Fahrenheit
degrees centigrade=degree_Celsius|grad celsius=degree_Celsius|grad fahrenheit=degree_Fahrenheit|grados celsius=degree_Celsius|degrés celsius=degree_Celsius|gradi celsius=degree_Celsius
graus celsius=degree_Celsius|grader celsius=degree_Celsius|celsiusastetta=degree_Celsius|light years=light_year|light year=light_year|nautical miles=nautical_mile|nautical mile=nautical_mile
miles per hour=mile/hour|kilometres per hour=kilometer/hour|kilometre per hour=kilometer/hour|km per hour=kilometer/hour|metres per second=meter/second|km pro stunde=kilometer/hour
kilometer pro stunde=kilometer/hour|metric tons=metric_ton|metric ton=metric_ton|short tons=short_ton|long tons=long_ton|miles per gallon=mile/gallon|parts per million=ppm
mètres carrés=meter**2|kilomètres carrés=kilometer**2|mètres cubes=meter**3|metros cuadrados=meter**2|kilómetros cuadrados=kilometer**2|metros cúbicos=meter**3|metri quadrati=meter**2
metri quadri=meter**2|chilometri quadrati=kilometer**2|metri cubi=meter**3|metros quadrados=meter**2|quilômetros quadrados=kilometer**2|km al cuadrado=kilometer**2|kilowatt hours=kilowatt*hour
kilometres carrés=kilometer**2|business days=day|working days=day|calendar days=day
"""
_PERCENT = (
    "percent|per cent|percents|pct|prozent|pour cent|pourcent|por ciento|per cento|percento|por cento|procent|prosent|prosenttia|prosentin|procento|"
    "procenta|procentech|percento|per cent|ehuneko|в процентах|процент|процента|процентов|procentów|procentu|في المائة|في المئة|بالمائة|بالمئة|درصد|प्रतिशत|"
    "पर्सेंट|パーセント|百分比|퍼센트"
)
_PERCENT_POINTS = "percentage points|percentage point|prozentpunkte|prozentpunkten|prozentpunkt|points de pourcentage|puntos porcentuales|punti percentuali|procentenheter|procentpoint"

_SCALES: tuple[tuple[float, str], ...] = (
    (1e2, "hundred|hundert|cien|cientos|百"),
    (1e3, "thousand|thousands|tausend|tsd|tsd.|mil|mila|mille|milliers|milliers de|duizend|tusen|tuhat|tuhatta|tisíc|tisíce|tys|tys.|тыс|тысяч|тысячи|mila|千|천|ألف|آلاف|هزار|हज़ार|हजार"),
    (
        1e6,
        "million|millions|mn|mln|mio|mio.|mill|mill.|millionen|million de|millions de|millions d'|millón|millones|millones de|milione|milioni|milioni di|milhão|milhões|"
        "milhões de|miljoen|miljon|miljoner|millioner|miljoona|miljoonaa|milion|miliony|milionů|milionów|milions|milions de|milioi|миллион|миллиона|миллионов|млн|"
        "مليون|ملايين|میلیون|百万|百萬|백만",
    ),
    (
        1e9,
        "billion|billions|bn|milliarden|milliarde|mrd|mrd.|milliard|milliards|milliards de|milliards d'|miliardo|miliardi|miliardi di|miljard|miljarder|milliarder|miljardia|"
        "miliarda|miliardy|miliard|miliardów|mil millones|mil millones de|mil milions|bilhão|bilhões|bilhões de|миллиард|миллиарда|миллиардов|млрд|مليار|میلیارد|अरब|十億|십억",
    ),
    (1e12, "trillion|trillions|tn|billionen|billón|billones|bilioni|biljoner|biljoonaa|biliony|bilion|триллион|триллионов|трлн|تريليون|تریلیون|兆|조|万亿|खरब"),
    (1e4, "万|萬|만"),
    (1e8, "億|亿|억"),
    (1e5, "lakh|lakhs|लाख"),
    (1e7, "crore|crores|करोड़|करोड|千万|천만"),
)  # fmt: skip
LETTER_SCALES = {
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "B": 1e9,
    "T": 1e12,
    "bn": 1e9,
    "Bn": 1e9,
    "mn": 1e6,
    "tn": 1e12,
    "mm": 1e6,
}

_MAJOR_CURRENCIES = (
    "USD EUR GBP JPY CHF CNY INR SEK NOK DKK CZK PLN HUF RUB KRW AUD CAD NZD BRL MXN TRY ZAR ISK ILS SGD HKD TWD THB UAH RON BGN EGP AED SAR QAR KWD "
    "IDR MYR PHP VND PKR LKR BDT IRR IQD NGN KES GHS ARS CLP COP PEN UYU DEM FRF ITL ESP NLG ATS BEF RMB"
).split()
CURRENCY_SIGNS = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₪": "ILS", "฿": "THB", "₫": "VND", "₱": "PHP",
    "₦": "NGN", "₴": "UAH", "₸": "KZT", "₲": "PYG", "₡": "CRC", "₵": "GHS", "﷼": "IRR",
}  # fmt: skip
CURRENCY_PREFIXES = {
    "us$": "USD", "u.s.$": "USD", "usd$": "USD", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD", "cad$": "CAD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "r$": "BRL",
    "nt$": "TWD", "mx$": "MXN", "cn¥": "CNY", "rmb": "CNY", "rs": "INR", "rs.": "INR", "kr": "SEK", "kr.": "SEK", "fr.": "CHF", "sfr.": "CHF",
}  # fmt: skip
_CURRENCY_WORDS = """
dollar dollars dólar dólares dollari dollaro dollaria dolar dolary dolarů dollarin डॉलर دولار دولارا دولارات دلار долларов доллара доллар=USD
euro euros euroja euron eur یورو يورو यूरो евро=EUR
pound_sterling pounds_sterling sterling livres_sterling libras_esterlinas sterline=GBP
yen yens jeniä=JPY yuan yuans renminbi=CNY rupee rupees rupie rupien roupies rupias रुपये रुपए रुपया روپیه=INR
rouble roubles ruble rubles rubel roubel рублей рубля рубль руб=RUB franken francs_suisses swiss_francs=CHF francs franc franchi francos=FRF
krona kronor kronen kroner=SEK koruna koruny korun kč=CZK zloty zł złotych=PLN forint forints ft.=HUF pesos peso=MXN reais real_brasileiro=BRL rand rands=ZAR
shekel shekels=ILS rial rials ریال=IRR تومان=IRR dirham dirhams=AED won=KRW baht=THB lira liras lire=TRY
us_dollar us_dollars u.s._dollars american_dollars us-dollar=USD australian_dollars=AUD canadian_dollars=CAD hong_kong_dollars=HKD new_zealand_dollars=NZD singapore_dollars=SGD
cents cent pence=cent
円=JPY 日元=JPY 元=CNY 人民币=CNY 美元=USD 美金=USD ドル=USD 米ドル=USD 欧元=EUR ユーロ=EUR 英镑=GBP ポンド=GBP 유로=EUR 달러=USD 원=KRW 엔=JPY 卢布=RUB 港元=HKD
"""
_GENERIC_MONTHS_BLOCKED = {
    "ago",
    "set",
    "out",
    "led",
    "mag",
    "ira",
    "ots",
    "urr",
    "aza",
    "mar.",
    "tam",
    "pro",
    "so",
    "lis",
    "hei",
    "elo",
}
_NOISE_WORDS = frozenset(
    "den an el in a as do to no or de la le on at up so st tm pm am me et al is der die das the "
    "da om uns unse unser peu stop ale tun".split()
)
_CZECH_LOCATIVES = "lednu únoru březnu dubnu květnu červnu červenci srpnu září říjnu listopadu prosinci".split()


@dataclass(frozen=True)
class Unit:
    """A unit word: its canonical name and what it makes of a number (``measure``, ``money`` or ``percent``)."""

    name: str
    kind: str
    dimension: str | None = None


@dataclass
class Lexicon:
    """All word tables; keys are folded (see :mod:`folding`) and composed, symbols keep their case."""

    months: dict[str, int] = field(default_factory=dict)
    full_months: set[str] = field(default_factory=set)
    symbols: dict[str, Unit] = field(default_factory=dict)
    words: dict[str, Unit] = field(default_factory=dict)
    phrases: dict[str, Unit] = field(default_factory=dict)
    phrase_starts: set[str] = field(default_factory=set)
    scales: dict[str, float] = field(default_factory=dict)
    codes: dict[str, Unit] = field(default_factory=dict)
    han_units: dict[str, Unit] = field(default_factory=dict)
    han_scales: dict[str, float] = field(default_factory=dict)


def is_han(char: str) -> bool:
    """Whether the character belongs to a script that does not separate words by spaces."""
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if key not in ("per", "compound", "gender"):
                yield from _strings(value)


def _key(word: str) -> str:
    return nfc(fold(word)).strip()


def _pint_name(cldr: str) -> str:
    if cldr in _PINT_NAMES:
        return _PINT_NAMES[cldr]
    name = cldr.split("-", 1)[1]
    left, _, right = name.partition("-per-")
    parts = []
    for part in (left, right):
        if part.startswith("square-"):
            parts.append(part[7:].replace("-", "_") + "**2")
        elif part.startswith("cubic-"):
            parts.append(part[6:].replace("-", "_") + "**3")
        elif part:
            parts.append(part.replace("-", "_"))
    return "/".join(parts)


_DIMENSIONS = {
    "length": "meter kilometer decimeter centimeter millimeter micrometer nanometer mile yard foot inch nautical_mile",
    "duration": "second millisecond microsecond minute hour day week month year decade century millennium fortnight",
    "mass": "kilogram gram milligram microgram metric_ton short_ton pound ounce stone",
}
_DIMENSION_OF = {name: dimension for dimension, names in _DIMENSIONS.items() for name in names.split()}


def _unit(name: str, kind: str = "measure") -> Unit:
    if name in ("percent", "permille"):
        kind = "percent"
    return Unit(name, kind, _DIMENSION_OF.get(name))


def _assignments(table: str) -> Iterator[tuple[str, str]]:
    pending: list[str] = []
    for token in table.split():
        word, separator, name = token.partition("=")
        pending.append(word)
        if separator:
            for entry in pending:
                yield entry, name
            pending = []


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the tables, built on the first call."""
    from babel import Locale

    lex = Lexicon()

    def add_unit(word: str, unit: Unit, *, override: bool = False) -> None:
        word = _key(word)
        if not word:
            return
        if is_han(word[0]):
            table = lex.han_units
        elif " " in word or "-" in word:
            table = lex.phrases
            lex.phrase_starts.add(word.replace("-", " ").split(" ")[0])
            word = word.replace("-", " ")
        else:
            table = lex.words
        if override or word not in table:
            table[word] = unit

    for word, name in _assignments(_WORDS):
        add_unit(word, _unit(name))
    for entry in _PHRASES.replace("\n", "|").split("|"):
        phrase, separator, name = entry.partition("=")
        if separator:
            add_unit(phrase, _unit(name))
    for word, name in _assignments(_CURRENCY_WORDS):
        add_unit(word.replace("_", " "), Unit(name, "money"), override=True)
    for phrase in _PERCENT.split("|"):
        add_unit(phrase, Unit("percent", "percent"))
    for phrase in _PERCENT_POINTS.split("|"):
        add_unit(phrase, Unit("percentage_point", "percent"))
    for symbol, name in _assignments(_SYMBOLS):
        lex.symbols[symbol] = _unit(name)
    for code in _MAJOR_CURRENCIES:
        lex.codes[code] = Unit("CNY" if code == "RMB" else code, "money")
    for factor, words in _SCALES:
        for word in words.split("|"):
            key = _key(word)
            (lex.han_scales if is_han(key[0]) else lex.scales)[key] = factor

    for language in LANGUAGES:
        locale = Locale(language)
        data: Any = locale._data
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in data["months"].get(context, {}).get(width, {}).items():
                    key = _key(str(name)).rstrip(".")
                    if (
                        not key
                        or key[0].isdigit()
                        or is_han(key[0])
                        or (width != "wide" and key in _GENERIC_MONTHS_BLOCKED)
                    ):
                        continue
                    if key in _GENERIC_MONTHS_BLOCKED and width != "wide":
                        continue
                    lex.months.setdefault(key, number)
                    if width == "wide":
                        lex.full_months.add(key)
                        for suffix in {"eu": ("ren", "n", "k", "ko"), "fi": ("ssa", "n", "sta")}.get(language, ()):
                            lex.months.setdefault(key + suffix, number)
        for cldr, patterns in data["unit_patterns"].items():
            if (
                cldr in _NOT_UNITS
                or ("-per-100-" in cldr and cldr not in _PINT_NAMES)
                or cldr.split("-")[0] in ("times", "10p")
            ):
                continue
            if not isinstance(patterns, Mapping) or "-" not in cldr:
                continue
            unit = _unit(_pint_name(cldr))
            for pattern in _strings(patterns.get("long", {})):
                if pattern.startswith(("{0}", " {0}")):
                    add_unit(pattern.replace("{0}", ""), unit)
            for pattern in _strings(patterns.get("short", {})):
                word = pattern.replace("{0}", "").strip().rstrip(".")
                if pattern.startswith("{0}") and len(word) > 3:
                    add_unit(word, unit)
        for code in _MAJOR_CURRENCIES:
            names = data["currency_names_plural"].get(code, {})
            for name in _strings(names):
                add_unit(name, Unit(code, "money"))
            if code in data["currency_names"]:
                add_unit(str(data["currency_names"][code]), Unit(code, "money"))
    for number, name in enumerate(_CZECH_LOCATIVES, 1):
        lex.months.setdefault(name, number)
    lex.months.update({"sept": 9, "märz": 3, "maerz": 3, "jänner": 1})
    for word in _NOISE_WORDS:
        lex.words.pop(word, None)
        lex.months.pop(word, None)
    return lex
