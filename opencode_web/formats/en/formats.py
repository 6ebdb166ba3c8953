from __future__ import annotations

# As browsers write the times that `clock.js` shows in the zone of the reader.
DATE_FORMAT = "M j, Y"
DATETIME_FORMAT = "M j, Y, H:i"
SHORT_DATETIME_FORMAT = "D, M j, H:i"
MONTH_DAY_FORMAT = "M j"
SHORT_DATE_FORMAT = "M j, Y"
TIME_FORMAT = "H:i"
