import { AccountService, TypeFamily } from "#proto/cti/v1/account_service_pb.js";
import { holds } from "../../../../shared/query-text.js";
import { type Binding, unary } from "../../../binding.js";
import { capabilitiesOf, type Me } from "../adapter.js";
import { operation } from "../graphql.js";
import { numberOf } from "../knowledge.js";
import { nodesOf } from "../paging.js";
import { relationTypesOf, TYPES } from "../types.js";

const { whoami, listEntityTypes } = AccountService.method;

/** What whoami says beside who is calling. */
export const STANDING = operation(`
  query Standing {
    me {
      effective_confidence_level {
        max_confidence
      }
    }
    about {
      version
    }
  }
`);

const BASES: Readonly<Record<TypeFamily, readonly string[]>> = {
  [TypeFamily.UNSPECIFIED]: ["Stix-Domain-Object", "Stix-Cyber-Observable"],
  [TypeFamily.ENTITY]: ["Stix-Domain-Object"],
  [TypeFamily.OBSERVABLE]: ["Stix-Cyber-Observable"],
  [TypeFamily.RELATIONSHIP]: [],
};

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(whoami, async (_, platform) => {
    const me = await platform.me<Me>();
    const { me: standing, about } = await platform.graphql(STANDING, {});
    return {
      id: me.id,
      name: me.name,
      email: me.user_email,
      capabilities: capabilitiesOf(me),
      markings: (me.allowed_marking ?? []).map(({ definition }) => definition ?? "").sort(),
      ...numberOf("maxConfidence", standing.effective_confidence_level?.max_confidence),
      ...(me.draftContext !== null && { openDraft: me.draftContext.name }),
      platformVersion: about?.version ?? "",
    };
  }),
  unary(listEntityTypes, async ({ family, query }, platform) => {
    const types: string[] = [];
    for (const type of BASES[family]) {
      const { subTypes } = await platform.graphql(TYPES, { type });
      types.push(...nodesOf(subTypes).map(({ id }) => id));
    }
    if (family === TypeFamily.UNSPECIFIED || family === TypeFamily.RELATIONSHIP)
      types.push(...(await relationTypesOf(platform)));
    return { types: types.filter((type) => holds(type, query ?? "")) };
  }),
];
