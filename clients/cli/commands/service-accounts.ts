import { readFileSync } from "node:fs";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type ServiceAccount, ServiceAccountService } from "#proto/auth/v1/service_account_service_pb.js";
import { clientOf } from "../client.js";
import type { Flag, Verb } from "../command.js";
import { EXIT, Failure, UsageError } from "../failures.js";
import { pages } from "../pages.js";
import type { Session } from "../session.js";

const ACCOUNT = { name: "ACCOUNT", doc: "The service account's name, such as svc:soar, or its id." };
const FLAGS: Readonly<Record<string, Flag>> = {
  methods: {
    doc: "The rpcs that it may call, separated by commas: core.v1.AgentService/ListAgents, or core.v1.AgentService/* for a whole service. They replace the present ones; '' removes all.",
  },
  "act-users": {
    doc: "E-mail addresses or ids of users that it may act for, separated by commas. With --act-groups, they replace the present users and groups; '' removes all.",
  },
  "act-groups": { doc: "Names or ids of groups whose members it may act for, separated by commas." },
};
const KEYS_DOC = "A file with 1 to 5 public keys as a JWK set in JSON; - reads standard input.";

/** Makes, shows, changes and ends the service accounts of internal systems. */
export const serviceAccounts: readonly Verb[] = [
  {
    verb: "create",
    doc: "Create a service account for an internal system that calls the gRPC API.",
    flags: {
      name: { doc: "Its name: svc: and 1 to 63 lower-case letters, digits or hyphens.", required: true },
      keys: { doc: KEYS_DOC, required: true },
      ...FLAGS,
    },
    async run(session, { flags }) {
      const { account } = await clientOf(session, ServiceAccountService).createServiceAccount({
        name: flags.name as string,
        jwks: textOf(flags.keys as string),
        ...grantOf(flags),
      });
      return toJson(account as ServiceAccount);
    },
  },
  {
    verb: "list",
    doc: "List service accounts with their keys, rpcs, and the ids of the users and groups that they may act for.",
    columns: ["name", "disabled", "keys", "methods", "created_at", "id"],
    async run(session) {
      const found: object[] = [];
      for await (const account of everyAccount(session)) found.push(toJson(account));
      return { service_accounts: found };
    },
  },
  {
    verb: "update",
    doc: "Change a service account. Omitted fields stay as they are. Every process applies the change before this returns.",
    args: [ACCOUNT],
    flags: {
      keys: { doc: `${KEYS_DOC} They replace the present ones.` },
      ...FLAGS,
      disabled: { doc: "Whether its calls are refused.", choices: ["yes", "no"] },
    },
    async run(session, { args, flags }) {
      const { id } = await findAccount(session, args.ACCOUNT as string);
      const { account } = await clientOf(session, ServiceAccountService).updateServiceAccount({
        id,
        ...(flags.keys !== undefined && { jwks: textOf(flags.keys) }),
        ...grantOf(flags),
        ...(flags.disabled !== undefined && { disabled: flags.disabled === "yes" }),
      });
      return toJson(account as ServiceAccount);
    },
  },
  {
    verb: "delete",
    doc: "Delete a service account. When this returns, no process accepts its calls; its objects stay.",
    args: [ACCOUNT],
    async run(session, { args }) {
      const { id, name } = await findAccount(session, args.ACCOUNT as string);
      await clientOf(session, ServiceAccountService).deleteServiceAccount({ id });
      return { id, name, deleted: true };
    },
  },
];

function grantOf(flags: Readonly<Record<string, string | undefined>>) {
  const { methods, "act-users": users, "act-groups": groups } = flags;
  return {
    ...(methods !== undefined && { methods: { names: listOf(methods) } }),
    ...((users !== undefined || groups !== undefined) && { act: { users: listOf(users), groups: listOf(groups) } }),
  };
}

function listOf(text = ""): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

async function* everyAccount(session: Session): AsyncIterable<ServiceAccount> {
  const client = clientOf(session, ServiceAccountService);
  for await (const { accounts } of pages((pageToken) => client.listServiceAccounts({ pageSize: 100, pageToken })))
    yield* accounts;
}

async function findAccount(session: Session, wanted: string): Promise<ServiceAccount> {
  for await (const account of everyAccount(session)) {
    if (account.id === wanted || account.name === wanted) return account;
  }
  throw new Failure(
    `there is no service account ${JSON.stringify(wanted)}: \`service-accounts list\` lists them`,
    EXIT.notFound,
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function toJson({ id, name, disabled, keys, methods, act, createdAt, updatedAt }: ServiceAccount): object {
  return {
    id,
    name,
    disabled,
    keys: keys.map(({ kid, alg, thumbprint }) => ({ kid, alg, thumbprint })),
    methods,
    act_users: act?.users ?? [],
    act_groups: act?.groups ?? [],
    created_at: createdAt && timestampDate(createdAt).toISOString(),
    updated_at: updatedAt && timestampDate(updatedAt).toISOString(),
  };
}
