import { names, type Question } from "./question.js";

/** Questions of exercise planners. */
export const AEV: readonly Question[] = [
  {
    title: "How did a finished phishing simulation go, and what was not detected?",
    calls: [
      {
        server: "aev",
        tool: "list_simulations",
        args: () => ({ query: "phishing", statuses: ["finished"] }),
        keep: ["simulations.id", "simulations.name", "simulations.started_at", "total_size"],
      },
      {
        server: "aev",
        tool: "get_simulation_results",
        args: ([{ simulations }]) => ({ simulation_id: simulations[0].id }),
        keep: ["name", "results"],
        rows: 4,
      },
      {
        server: "aev",
        tool: "get_simulation_results_by_attack_pattern",
        args: ([{ simulations }]) => ({ simulation_id: simulations[0].id }),
        keep: ["attack_patterns.external_id", "attack_patterns.name", "attack_patterns.injects.outcomes"],
      },
    ],
    inWords: ([, { name, results }, { attack_patterns }]) => {
      const failed = (kind: string): number =>
        results
          .find((one: { kind: string }) => one.kind === kind)
          .counts.find((one: { outcome: string }) => one.outcome === "failed").count;
      const unseen = attack_patterns.filter(({ injects }: { injects: readonly { outcomes?: object }[] }) =>
        injects.some(
          ({ outcomes }) => outcomes !== undefined && "detection" in outcomes && outcomes.detection === "failed",
        ),
      );
      return `In **${name}**, **${failed("prevention")}** prevention and **${failed("detection")}** detection expectations failed. The simulation used **${attack_patterns.length}** techniques. These were not detected: ${names(unseen)}.`;
    },
  },
  {
    title: "Is the critical ransomware exercise ready? Schedule it for every Monday at 9:00.",
    calls: [
      {
        server: "aev",
        tool: "list_scenarios",
        args: () => ({ query: "ransomware", severities: ["critical"] }),
        keep: ["scenarios.id", "scenarios.name", "scenarios.severity", "total_size"],
      },
      {
        server: "aev",
        tool: "check_scenario_health",
        args: ([{ scenarios }]) => ({ scenario_id: scenarios[0].id }),
        keep: ["problems"],
      },
      {
        server: "aev",
        tool: "schedule_scenario",
        args: ([{ scenarios }]) => ({
          scenario_id: scenarios[0].id,
          recurrence: "0 0 9 * * MON",
          start_at: "2030-01-07T00:00:00Z",
        }),
        keep: ["scenario.id", "scenario.name", "scenario.recurrence", "start_at"],
      },
    ],
    inWords: ([{ scenarios }, { problems }]) =>
      `${names(scenarios)} is scheduled. Problems found: **${problems.length}**, the first **${problems[0].subject}: ${problems[0].problem}**. ${problems.some(({ blocks }: { blocks: boolean }) => blocks) ? "The launch is blocked." : "Nothing blocks the launch."}`,
  },
  {
    title: "What can we run to test the technique T1059.001?",
    calls: [
      {
        server: "aev",
        tool: "list_attack_patterns",
        args: () => ({ query: "T1059.001" }),
        keep: ["attack_patterns.id", "attack_patterns.external_id", "attack_patterns.name", "total_size"],
      },
      {
        server: "aev",
        tool: "list_injector_contracts",
        args: ([{ attack_patterns }]) => ({ attack_pattern_id: attack_patterns[0].id }),
        keep: [
          "injector_contracts.id",
          "injector_contracts.name",
          "injector_contracts.type",
          "injector_contracts.platforms",
          "total_size",
        ],
      },
    ],
    inWords: ([{ attack_patterns }, { injector_contracts, total_size }]) =>
      `To test ${names(attack_patterns)}, an inject can use one of **${total_size}** contracts: ${names(injector_contracts)}.`,
  },
  {
    title: "On which machines did exercises find Log4Shell (CVE-2021-44228), and is an agent active there?",
    calls: [
      {
        server: "aev",
        tool: "list_findings",
        args: () => ({ types: ["cve"], query: "CVE-2021-44228" }),
        keep: ["findings.id", "findings.value", "findings.endpoints", "findings.inject", "total_size"],
      },
      {
        server: "aev",
        tool: "get_endpoint",
        args: ([{ findings }]) => ({ endpoint_id: findings[0].endpoints[0].id }),
        keep: [
          "endpoint.id",
          "endpoint.name",
          "endpoint.platform",
          "endpoint.ips",
          "endpoint.agents.executor",
          "endpoint.agents.active",
        ],
      },
    ],
    inWords: ([{ findings, total_size }, { endpoint }]) =>
      `There are **${total_size}** findings, the newest on ${names(findings[0].endpoints)}. There, **${endpoint.agents.filter(({ active }: { active: boolean }) => active).length}** of **${endpoint.agents.length}** agents is active.`,
  },
];
