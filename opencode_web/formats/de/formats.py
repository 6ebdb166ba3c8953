from __future__ import annotations

DATE_FORMAT = "d.m.Y"
DATETIME_FORMAT = "d.m.Y, H:i"
SHORT_DATETIME_FORMAT = "D, d.m., H:i"
MONTH_DAY_FORMAT = "j. N"
SHORT_DATE_FORMAT = "d.m.Y"
TIME_FORMAT = "H:i"
