from __future__ import annotations

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
SHORT_DATETIME_FORMAT = "D j M, H:i"
MONTH_DAY_FORMAT = "M j"
SHORT_DATE_FORMAT = "M j, Y"
TIME_FORMAT = "H:i"
