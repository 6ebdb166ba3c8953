from __future__ import annotations

DATE_FORMAT = "j. M Y"
DATETIME_FORMAT = "j. M Y, H:i"
SHORT_DATETIME_FORMAT = "D, j. M, H:i"
MONTH_DAY_FORMAT = "j. M"
SHORT_DATE_FORMAT = "j. M Y"
TIME_FORMAT = "H:i"
