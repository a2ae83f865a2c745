import { addPayload } from "../routes/payloads.js";
import { expectationsOf } from "../runs.js";
import { type Contract, DEFAULT_TENANT, type Inject, SECOND_TENANT, type World } from "../world.js";
import type { Draw } from "./draw.js";

const DAY_MS = 86_400_000;
/** How the runs of seeded tests ended; null for one that never ran. */
const ENDS = ["SUCCESS", "ERROR", "PARTIAL", null, "SUCCESS", null] as const;

/** Atomic tests of both tenants: some that ran, one of them on a machine without an agent. */
export function seedTests(world: World, draw: Draw, contracts: readonly Contract[], now: number): void {
  const attacks = contracts.filter(({ technique }) => technique !== undefined);
  for (const [tenant, count] of [
    [DEFAULT_TENANT, ENDS.length],
    [SECOND_TENANT, 2],
  ] as const) {
    const endpoints = [...world.endpoints.values()].filter((endpoint) => endpoint.tenant === tenant);
    for (const [i, end] of ENDS.slice(0, count).entries()) {
      const at = now - (i + 1) * DAY_MS;
      const reached = endpoints.filter(({ agent }) => (agent?.active === true) === (end !== "ERROR"));
      const contract = attacks[i] as Contract;
      const inject: Inject = {
        id: draw.uuid(),
        tenant,
        scenario: null,
        simulation: null,
        title: `Test of ${contract.label}`,
        contract,
        delaySeconds: 0,
        enabled: true,
        teams: [],
        assets: draw.some(
          reached.map(({ id }) => id),
          2,
        ),
        assetGroups: [],
        tags: [],
        status: end === null ? null : { id: draw.uuid(), name: end, sentAt: at, endAt: at + 40_000 },
        expectations: [],
        createdAt: at,
        updatedAt: at,
      };
      if (end === "SUCCESS" || end === "PARTIAL") inject.expectations = expectationsOf(world, inject, at);
      world.injects.set(inject.id, inject);
    }
  }
}

const COMMANDS: readonly (readonly [name: string, platform: string, executor: string, command: string])[] = [
  ["List users", "Linux", "sh", "cat /etc/passwd #{who}"],
  ["List processes", "Windows", "psh", "Get-Process"],
  ["Show routes", "Linux", "bash", "ip route"],
  ["List users", "MacOS", "bash", "dscl . list /Users"],
];

/** Payloads of both tenants, two of them of one name. */
export function seedPayloads(world: World, draw: Draw, now: number): void {
  const techniques = [...world.techniques.keys()];
  for (const tenant of [DEFAULT_TENANT, SECOND_TENANT]) {
    for (const [i, [name, platform, executor, command]] of COMMANDS.entries()) {
      const ids = [draw.uuid(), draw.uuid()];
      const values = {
        payload_type: "Command",
        payload_name: name,
        payload_description: `${name} on ${platform}`,
        payload_platforms: [platform],
        payload_cleanup_executor: executor,
        payload_cleanup_command: "true",
        payload_arguments: [
          { type: "text", subtype: null, key: "who", default_value: "root", description: null, separator: null },
        ],
        payload_prerequisites: null,
        payload_source: i === 0 ? "COMMUNITY" : "MANUAL",
        payload_expectations: ["PREVENTION"],
        payload_status: i === 1 ? "UNVERIFIED" : "VERIFIED",
        payload_execution_arch: "ALL_ARCHITECTURES",
        payload_output_parsers: [],
        payload_tags: [],
        payload_domains: [],
        payload_attack_patterns: [techniques[i] as string],
        command_executor: executor,
        command_content: command,
        dns_resolution_hostname: null,
        file_drop_file: null,
        executable_file: null,
      };
      addPayload(world, tenant, values, now - (20 + i) * DAY_MS, ids);
    }
  }
}
