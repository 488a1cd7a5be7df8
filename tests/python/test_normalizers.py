# steno tests: steno.whisper.normalizers and steno.whisper.timing. SPDX-License-Identifier: MIT
import importlib.util
import random
import unittest

from steno.whisper import timing
from steno.whisper.normalizers import BasicTextNormalizer, EnglishTextNormalizer
from steno.whisper.normalizers.numbers import PARTS, EnglishNumberNormalizer
from steno.whisper.normalizers.spelling import american

NUMBERS = {
    "twenty one pilots": "21 pilots", "in nineteen oh five": "in 1905", "the ninth of may": "the 9th of may", "six thousand and two": "6002",
    "one million two hundred thousand and five": "1200005", "point two five": ".25", "zero point five percent": "0.5%",
    "two euros and five cents": "€2.05", "minus three point one": "-3.1", "four or five": "4 or 5", "one point one": "1.1", "room 4 b": "room 4 b", "one by one": "one by one",
    "double trouble": "double trouble", "the point is": "the point is", "minus the cost": "minus the cost", "and a half": "and a half",
    "two and a half hours": "2.5 hours", "three hundredths": "3 hundredths", "minus $5": "minus $5", "1.2.3": "1.2.3", "five cents and two dollars": "¢5 and $2"}
TEXTS = {
    "Well, I'd gone; you're late!": "well i had gone you are late", "[music] Hmm... (laughs) okay": "okay", "It cost 3,500.25 dollars.": "it cost $3500.25",
    "The U.S. and A.B.C.": "the u s and a b c", "Café, naïve, Straße": "cafe naive strasse", "Dr. O'Neil's 50% share": "doctor 0 neil is 50% share",
    "We analysed the colour of twenty-two tyres": "we analyzed the color of 22 tires", "a % of $ and .": "a of and", "": ""}
SPELLINGS = {
    "organisations": "organizations", "colourfully": "colorfully", "kilometres": "kilometers", "centred": "centered", "theatregoer": "theatergoer",
    "travelling": "traveling", "unlabelled": "unlabeled", "fulfilment": "fulfillment", "paralysed": "paralyzed", "cataloguing": "cataloging",
    "encyclopaedia": "encyclopedia", "orthopaedic": "orthopedic", "practised": "practiced", "manoeuvred": "maneuvered", "programmes": "programs",
    "soliloquise": "soliloquize", "recognisance": "recognizance", "skilfully": "skillfully", "programmed": "programmed"}
KEPT = """analyses exercise surprised premises uprising raised noises likewise metropolises hours your four contours acre genre metric controlled
called shoestring greyhound cosine improvisation advertisement miser wisest mould-like penises catalogue-free hero arm labor meter""".split()


class Normalizers(unittest.TestCase):
    def test_spoken_numbers_become_digits(self):
        for text, want in NUMBERS.items():
            self.assertEqual(EnglishNumberNormalizer()(text), want, text)

    def test_every_text_gives_a_text_that_stays_as_it_is(self):
        words = [*PARTS, "o", "point", "and", "double", "minus", "dollars", "cents", "percent", "half", "a", "3", "0.5", "$20", "10th", "50%", "."]
        normalize, rng = EnglishNumberNormalizer(), random.Random(5)
        for _ in range(3000):
            text = " ".join(rng.choices(words, k=rng.randint(1, 8)))
            out = normalize(text)
            self.assertEqual(out, " ".join(out.split()), text)
            self.assertTrue(set(out) <= set("abcdefghijklmnopqrstuvwxyz0123456789 .+-$€£¢%"), text)

    def test_english_texts_lose_what_correct_transcripts_differ_in(self):
        for text, want in TEXTS.items():
            self.assertEqual(EnglishTextNormalizer()(text).strip(), want, text)

    def test_british_spellings_become_american(self):
        for word, want in SPELLINGS.items():
            self.assertEqual(american(word), want)
            self.assertEqual(american(want), want)

    def test_words_with_the_same_endings_are_kept(self):
        for word in KEPT:
            if "-" not in word:
                self.assertEqual(american(word), word)

    def test_texts_of_any_language_lose_symbols(self):
        self.assertEqual(BasicTextNormalizer()("¡Hola, (eh) señor! [ruido]"), " hola señor ")
        self.assertEqual(BasicTextNormalizer(remove_diacritics=True)("Łódź ærø"), "lodz aero")
        self.assertEqual(BasicTextNormalizer(split_letters=True)("日本語。"), "日 本 語 ")


@unittest.skipUnless(importlib.util.find_spec("numpy"), "needs numpy")
class Timing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.numpy = importlib.import_module("numpy")

    def test_the_path_has_the_least_cost_of_all(self):
        self.numpy.random.seed(3)
        for n, m in ((1, 1), (1, 5), (4, 1), (3, 4), (5, 5), (4, 6)):
            x = self.numpy.random.random((n, m))
            rows, columns = timing.dtw(x)
            self.assertEqual((rows[0], columns[0], rows[-1], columns[-1]), (0, 0, n - 1, m - 1))
            self.assertTrue(all((a, b) in ((0, 1), (1, 0), (1, 1)) for a, b in zip(self.numpy.diff(rows), self.numpy.diff(columns))))
            self.assertAlmostEqual(x[rows, columns].sum(), self.least(x, 0, 0), 5)

    def least(self, x, i, j):
        n, m = x.shape
        after = [self.least(x, a, b) for a, b in ((i + 1, j), (i, j + 1), (i + 1, j + 1)) if a < n and b < m]
        return x[i, j] + (min(after) if after else 0)

    def test_medians_are_those_of_sorted_neighbours(self):
        x = self.numpy.random.default_rng(4).random((3, 20))
        for width in (1, 3, 5, 13):
            padded = self.numpy.pad(x, ((0, 0), (width // 2, width // 2)), mode="reflect")
            want = [[sorted(row[i:i + width])[width // 2] for i in range(20)] for row in padded]
            self.assertEqual(timing.median_filter(x, width).tolist(), want)
        self.assertEqual(timing.median_filter(x[:, :2], 5).tolist(), x[:, :2].tolist())

    def test_wrong_shapes_and_widths_are_refused(self):
        for call, text in ((lambda: timing.median_filter([1.0], 4), "filter_width is 4"), (lambda: timing.dtw([1.0]), r"shape \(1,\)"),
                           (lambda: timing.dtw(self.numpy.empty((0, 3))), r"shape \(0, 3\)")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(NotImplementedError, "use dtw_cpu"):
            timing.dtw_cuda([[1.0]])


if __name__ == "__main__":
    unittest.main()
