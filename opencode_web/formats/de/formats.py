from __future__ import annotations

DATE_FORMAT = "j. N Y"
DATETIME_FORMAT = "j. N Y, H:i"
SHORT_DATETIME_FORMAT = "D, j. N, H:i"
MONTH_DAY_FORMAT = "j. N"
SHORT_DATE_FORMAT = "j. N Y"
TIME_FORMAT = "H:i"
