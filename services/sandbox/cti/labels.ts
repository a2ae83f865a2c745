/** Attributes and references whose label is not made of their key. */
const LABELS: Readonly<Record<string, string>> = {
  createdBy: "Author",
  "created-by": "Author",
  created_at: "Platform creation date",
  externalReferences: "External reference",
  killChainPhases: "Kill chain phase",
  object: "Contains",
  objects: "Contains",
  objectLabel: "Label",
  "object-label": "Label",
  objectMarking: "Markings",
  "object-marking": "Markings",
  published: "Report publication date",
  updated_at: "Modification date",
  x_mitre_id: "External ID",
  x_opencti_cvss_base_score: "CVSS3 Score",
  x_opencti_description: "Observable description",
  x_opencti_detection: "Is detected",
};

/** How the platform names an attribute or a reference: in its history, and beside its filter keys. */
export function labelOf(key: string): string {
  if (Object.hasOwn(LABELS, key)) return LABELS[key]!;
  const words = key.replace(/^x_(?:opencti|mitre)_/, "").replace(/[_-]/g, " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
