import type { MessageShape } from "@bufbuild/protobuf";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import type { GrantSchema } from "#proto/core/v1/sharing_pb.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";

type Grant = MessageShape<typeof GrantSchema>;

/** Whom the names in a request mean: a grant to a name that nobody has would give nothing and say nothing. */
export interface Principals {
  /** The grants, to ids. @throws ConnectError invalid_argument that names whom nobody knows. */
  of(grants: readonly Grant[]): Promise<Grant[]>;
  /** The names, as ids; `unknown` are those that are nobody's, such as the id of who is gone. */
  ofNames(names: readonly string[]): Promise<{ readonly ids: string[]; readonly unknown: string[] }>;
  /** The ids of the groups that a user is in now; none for a user that is gone. */
  groupsOf(user: string): Promise<readonly string[]>;
}

/** Asks auth whom names mean. */
export function createPrincipals(peers: Peers): Principals {
  async function idsOf(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const asked = names.filter((name) => name !== "everyone");
    if (asked.length === 0) return new Map();
    const { principals } = await peers.callAsService(DirectoryService.method.resolvePrincipals, { names: asked });
    return new Map(Object.entries(principals));
  }

  return {
    async of(grants) {
      const ids = await idsOf(grants.map(({ to }) => to));
      const unknown = grants.map(({ to }) => to).filter((to) => to !== "everyone" && !ids.has(to));
      if (unknown.length > 0) {
        throw invalidArgument(
          `unknown user or group: ${unknown.join(", ")}. Name a user by e-mail address or id, and a group by name or id`,
        );
      }
      return grants.map((grant) => ({ ...grant, to: ids.get(grant.to) ?? grant.to }));
    },
    async ofNames(names) {
      const ids = await idsOf(names);
      const isKnown = (name: string): boolean => name === "everyone" || ids.has(name);
      return {
        ids: names.filter(isKnown).map((name) => ids.get(name) ?? name),
        unknown: names.filter((name) => !isKnown(name)),
      };
    },
    async groupsOf(user) {
      return (await peers.callAsService(DirectoryService.method.getMemberships, { userId: user })).groupIds;
    },
  };
}
