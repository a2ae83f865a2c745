import type { Platform } from "../../platform.js";
import { fragment, type NodeOf, operation } from "./graphql.js";

/** The other names of an object, wherever its type keeps them. */
export const ALIASED = fragment(`
  fragment Aliased on StixCoreObject {
    ... on AttackPattern {
      aliases
    }
    ... on Campaign {
      aliases
    }
    ... on Infrastructure {
      aliases
    }
    ... on IntrusionSet {
      aliases
    }
    ... on Malware {
      aliases
    }
    ... on ThreatActorGroup {
      aliases
    }
    ... on ThreatActorIndividual {
      aliases
    }
    ... on Tool {
      aliases
    }
    ... on Incident {
      aliases
    }
    ... on Channel {
      aliases
    }
    ... on Event {
      aliases
    }
    ... on Narrative {
      aliases
    }
    ... on CourseOfAction {
      x_opencti_aliases
    }
    ... on Individual {
      x_opencti_aliases
    }
    ... on Organization {
      x_opencti_aliases
    }
    ... on Sector {
      x_opencti_aliases
    }
    ... on System {
      x_opencti_aliases
    }
    ... on City {
      x_opencti_aliases
    }
    ... on Country {
      x_opencti_aliases
    }
    ... on Region {
      x_opencti_aliases
    }
    ... on AdministrativeArea {
      x_opencti_aliases
    }
    ... on Position {
      x_opencti_aliases
    }
    ... on Vulnerability {
      x_opencti_aliases
    }
  }
`);

/** The other names of one object. */
export const ALIASES = operation(
  `
  query Aliases($id: String!) {
    stixCoreObject(id: $id) {
      id
      ...Aliased
    }
  }
`,
  [ALIASED],
);

/** The other names that an object has. */
export const aliasesOf = ({ aliases, x_opencti_aliases }: NodeOf<typeof ALIASED>): string[] =>
  (aliases ?? x_opencti_aliases ?? []).filter((alias) => alias !== null);

/** Names as the platform keeps them: without blanks around, each once; a blank one is none. */
export function namesIn(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== "");
}

/**
 * The other names that an object is to have. The platform takes what is to be
 * added or removed for all there are to be, whatever the operation says, so
 * that they are read first and given whole.
 */
export async function aliasesAfter(
  platform: Platform,
  id: string,
  added: readonly string[],
  removed: readonly string[],
): Promise<string[]> {
  const { stixCoreObject } = await platform.graphql(ALIASES, { id });
  const known = stixCoreObject === null ? [] : aliasesOf(stixCoreObject);
  const plain = (name: string) => name.trim().toLowerCase();
  const gone = new Set(removed.map(plain));
  const kept = known.filter((alias) => !gone.has(plain(alias)));
  const had = new Set(kept.map(plain));
  return [...kept, ...namesIn(added).filter((alias) => !had.has(plain(alias)))];
}
