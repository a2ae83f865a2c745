import type { Noun } from "./command.js";

/** Every noun of the administration client. */
export const NOUNS: readonly Noun[] = [
  {
    noun: "users",
    doc: "People and service accounts that may call the service.",
    load: async () => (await import("./commands/users.js")).users,
  },
  {
    noun: "groups",
    doc: "Groups of users that objects can be shared with.",
    load: async () => (await import("./commands/groups.js")).groups,
  },
  {
    noun: "keys",
    doc: "API keys: create, list, rotate, revoke.",
    load: async () => (await import("./commands/keys.js")).keys,
  },
  {
    noun: "connections",
    doc: "Connections of people: API keys, and clients that signed in.",
    load: async () => (await import("./commands/connections.js")).connections,
  },
  {
    noun: "packages",
    doc: "Packages that AI clients install.",
    load: async () => (await import("./commands/packages.js")).packages,
  },
  {
    noun: "sessions",
    doc: "Sign-ins at browsers.",
    load: async () => (await import("./commands/sessions.js")).sessions,
  },
  {
    noun: "signing-keys",
    doc: "The keys that sign for the service: list, rotate, revoke.",
    load: async () => (await import("./commands/signing-keys.js")).signingKeys,
  },
  {
    noun: "service-accounts",
    doc: "Internal systems that call the gRPC API with keys of their own.",
    load: async () => (await import("./commands/service-accounts.js")).serviceAccounts,
  },
  {
    noun: "settings",
    doc: "The switches of the service.",
    load: async () => (await import("./commands/settings.js")).settings,
  },
  {
    noun: "platforms",
    doc: "Platforms, and the tokens that they register with.",
    load: async () => (await import("./commands/platforms.js")).platforms,
  },
  {
    noun: "usage",
    doc: "Storage in use, and its limits.",
    load: async () => (await import("./commands/usage.js")).usage,
  },
  {
    noun: "audit",
    doc: "The audit: administration, writes and refusals, with user and time.",
    load: async () => (await import("./commands/audit.js")).audit,
  },
  {
    noun: "backup",
    doc: "Backups of the embedded store; run these on its machine.",
    load: async () => (await import("./commands/backup.js")).backup,
  },
  {
    noun: "store",
    doc: "The store itself: copy it between the two kinds; run this on its machine.",
    load: async () => (await import("./commands/store.js")).store,
  },
  {
    noun: "secrets",
    doc: "The keys that encrypt secrets in the store; run this on its machine.",
    load: async () => (await import("./commands/secrets.js")).secrets,
  },
  {
    noun: "clients",
    doc: "Configurations of MCP clients for this service.",
    load: async () => (await import("./commands/clients.js")).clients,
  },
  {
    noun: "doctor",
    doc: "Checks this installation, and says how to fix each problem.",
    load: async () => (await import("./commands/doctor.js")).doctor,
  },
  {
    noun: "knowledge",
    doc: "Documents of knowledge bases: add files and folders.",
    load: async () => (await import("./commands/knowledge.js")).knowledge,
  },
  {
    noun: "tools",
    doc: "Call tools, as an MCP client does.",
    load: async () => (await import("./commands/tools.js")).tools,
  },
];
