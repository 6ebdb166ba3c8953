import unittest

from till import Till


class TillTest(unittest.TestCase):
    def test_subtotal_adds_up_all_lines(self):
        till = Till()
        till.add("Bread", 320)
        till.add("Apple", 45, quantity=4)
        self.assertEqual(till.subtotal(), 500)

    def test_discount_is_taken_off(self):
        till = Till(discount_percent=10)
        till.add("Coffee", 1250, quantity=2)
        self.assertEqual(till.total(), 2250)

    def test_quantity_must_be_positive(self):
        with self.assertRaises(ValueError):
            Till().add("Bread", 320, quantity=0)


if __name__ == "__main__":
    unittest.main()
