import { failedPrecondition } from "../../../shared/rpc/errors.js";

/** How an entity type is created, and where its other names are kept. */
export interface CreatableType {
  readonly mutation: string;
  readonly input: string;
  readonly aliases: "aliases" | "x_opencti_aliases" | undefined;
  /** The platform takes an equal name for the same object; of the others each is a new one. */
  readonly merges: boolean;
}

const WITH_ALIASES = [
  "Attack-Pattern",
  "Campaign",
  "Infrastructure",
  "Intrusion-Set",
  "Malware",
  "Threat-Actor-Group",
  "Threat-Actor-Individual",
  "Tool",
  "Incident",
  "Channel",
  "Event",
  "Narrative",
];
const WITH_OWN_ALIASES = [
  "Course-Of-Action",
  "Individual",
  "Organization",
  "Sector",
  "System",
  "City",
  "Country",
  "Region",
  "Administrative-Area",
  "Position",
  "Vulnerability",
];
const CASES = ["Case-Incident", "Case-Rfi", "Case-Rft"];

/** The type of what is read here and never created, changed, merged or deleted. */
export const ORGANIZATION = "Organization";

/** The types that create_entity makes: those that need no more than a name. */
export const CREATABLE_TYPES: ReadonlyMap<string, CreatableType> = new Map(
  [...WITH_ALIASES, ...WITH_OWN_ALIASES.filter((type) => type !== ORGANIZATION), ...CASES].map(
    (type): [string, CreatableType] => {
      const name = type.replaceAll("-", "");
      return [
        type,
        {
          mutation: `${name.charAt(0).toLowerCase()}${name.slice(1)}Add`,
          input: `${name}AddInput`,
          aliases: aliasesKeyOf(type),
          merges: !CASES.includes(type),
        },
      ];
    },
  ),
);

/** @throws ConnectError failed_precondition, for an object of a type that no tool changes. */
export function checkMayChange({ entity_type: type }: { readonly entity_type: string }, argument = "object_id"): void {
  if (type === ORGANIZATION)
    throw failedPrecondition(
      `${argument}: these tools only read organizations; create, change, merge or delete them in OpenCTI itself`,
    );
}

/** Where a type keeps its other names; undefined where it has none. */
export function aliasesKeyOf(type: string): "aliases" | "x_opencti_aliases" | undefined {
  if (WITH_ALIASES.includes(type)) return "aliases";
  return WITH_OWN_ALIASES.includes(type) ? "x_opencti_aliases" : undefined;
}
