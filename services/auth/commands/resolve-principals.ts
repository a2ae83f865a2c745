import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ResolvePrincipalsRequest, ResolvePrincipalsResponseSchema } from "#proto/auth/v1/directory_service_pb.js";
import type { Context } from "../context.js";
import { normalEmail } from "../emails.js";
import { nameKeyOf } from "../group-records.js";
import type { AuthStore } from "../store.js";

/** Finds whom names mean; service accounts are nobody to share with. */
export async function resolvePrincipals(
  { store }: Context,
  { names }: ResolvePrincipalsRequest,
): Promise<MessageInitShape<typeof ResolvePrincipalsResponseSchema>> {
  const found = await Promise.all([...new Set(names)].map(async (name) => [name, await meantBy(store, name)] as const));
  return { principals: Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined)) };
}

async function meantBy({ users, groups }: AuthStore, name: string): Promise<string | undefined> {
  const [kind, ...rest] = name.split(":");
  const said = rest.join(":");
  if (kind === "user") {
    const user = await users.findOne(said.includes("@") ? { login: loginOf(said) } : { _id: said });
    return user === null || user.service ? undefined : `user:${user._id}`;
  }
  if (kind !== "group") return undefined;
  const group = (await groups.findOne({ _id: said })) ?? (await groups.findOne({ name_key: nameKeyOf(said) }));
  return group === null ? undefined : `group:${group._id}`;
}

/** What is no address is nobody's. */
function loginOf(said: string): string {
  try {
    return normalEmail(said);
  } catch {
    return "";
  }
}
