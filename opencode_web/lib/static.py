from __future__ import annotations

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage


class ModuleManifestStorage(ManifestStaticFilesStorage):
    """Hashed names, also inside `import` statements of our ES modules."""

    support_js_module_import_aggregation = True
