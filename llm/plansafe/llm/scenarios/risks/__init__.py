"""Tasks with a hazard on environments of VirtualHome, in the manner of SafeRisks (docs/scenarios.md, "Risk files")."""
