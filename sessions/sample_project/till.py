"""A till: add lines, take off a discount, print a receipt. Amounts are whole cents."""

from dataclasses import dataclass, field


@dataclass
class Line:
    name: str
    price: int
    quantity: int = 1

    def total(self) -> int:
        return self.price * self.quantity


@dataclass
class Till:
    discount_percent: int = 0
    lines: list[Line] = field(default_factory=list)

    def add(self, name: str, price: int, quantity: int = 1) -> None:
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        self.lines.append(Line(name, price, quantity))

    def subtotal(self) -> int:
        return sum(line.total() for line in self.lines)

    def total(self) -> int:
        return self.subtotal() * self.discount_percent // 100

    def receipt(self) -> str:
        rows = [
            f"{line.quantity} x {line.name:<12} {line.total() / 100:>8.2f}" for line in self.lines
        ]
        rows.append(f"{'Total':<16} {self.total() / 100:>8.2f}")
        return "\n".join(rows)
