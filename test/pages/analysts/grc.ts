import { names, type Question } from "./question.js";

const internalAudit = {
  server: "grc",
  tool: "list_assessments",
  args: () => ({ query: "ISO 27001 internal audit" }),
  keep: ["assessments.id", "assessments.name", "assessments.status", "total_size"],
} as const;

/** Questions of people who work on governance, risks and compliance. */
export const GRC: readonly Question[] = [
  {
    title: "What is our score in the ISO 27001 internal audit, and which requirements are not met?",
    calls: [
      internalAudit,
      {
        server: "grc",
        tool: "get_assessment_maturity",
        args: ([{ assessments }]) => ({ assessment_id: assessments[0].id }),
        keep: ["assessment.name", "score", "max_score"],
      },
      {
        server: "grc",
        tool: "list_requirement_assessments",
        args: ([{ assessments }]) => ({ assessment_id: assessments[0].id, results: ["non_compliant"] }),
        keep: [
          "requirement_assessments.id",
          "requirement_assessments.requirement",
          "requirement_assessments.control_count",
          "total_size",
        ],
      },
      {
        server: "grc",
        tool: "get_requirement_assessment",
        args: ([, , { requirement_assessments }]) => ({
          requirement_assessment_id: requirement_assessments[0].id,
        }),
        keep: [
          "requirement_assessment.requirement.ref_id",
          "requirement_assessment.requirement.name",
          "requirement_assessment.result",
          "requirement_assessment.controls",
          "requirement_assessment.status",
        ],
      },
    ],
    inWords: ([, { score, max_score }, { total_size }, { requirement_assessment }]) =>
      `The score is **${score} of ${max_score}**. **${total_size}** requirements are not met; the first is ${names([requirement_assessment.requirement])}, with the control ${names(requirement_assessment.controls)}.`,
  },
  {
    title: "Is there an agent that prepares the gap analysis of that audit, and what may it change?",
    calls: [
      {
        server: "core",
        tool: "list_agents",
        args: () => ({ query: "gap analyst" }),
        keep: ["agents.id", "agents.name", "agents.enabled", "total_size"],
      },
      {
        server: "core",
        tool: "get_agent",
        args: ([{ agents }]) => ({ agent_id: agents[0].id }),
        keep: ["agent.id", "agent.description", "agent.tools", "agent.skills"],
        rows: 20,
      },
    ],
    inWords: ([{ agents }, { agent }]) => {
      const isWrite = (tool: string): boolean => /\/(create|set|attach|update|delete)_/.test(tool);
      return `Yes: ${names([agents[0]])}. It has **${agent.tools.length}** tools. These can change data: **${agent.tools.filter(isWrite).join(", ")}**. An agent acts with your rights.`;
    },
  },
  {
    title: "Which risks have the highest level now, and what reduces the first one?",
    calls: [
      {
        server: "grc",
        tool: "list_risk_scenarios",
        args: () => ({ current_levels: [4] }),
        keep: [
          "risk_scenarios.id",
          "risk_scenarios.ref_id",
          "risk_scenarios.name",
          "risk_scenarios.treatment",
          "risk_scenarios.current.level.name",
          "total_size",
        ],
      },
      {
        server: "grc",
        tool: "get_risk_scenario",
        args: ([{ risk_scenarios }]) => ({ risk_scenario_id: risk_scenarios[0].id }),
        keep: [
          "risk_scenario.name",
          "risk_scenario.current.level.name",
          "risk_scenario.residual.level.name",
          "risk_scenario.assets",
          "risk_scenario.existing_controls",
          "risk_scenario.controls",
        ],
      },
    ],
    inWords: ([{ total_size }, { risk_scenario }]) =>
      `**${total_size}** risks have the highest level. The first is ${names([risk_scenario])}. Its existing controls are ${names(risk_scenario.existing_controls)}. Its planned controls, ${names(risk_scenario.controls)}, reduce it to **${risk_scenario.residual.level.name}**.`,
  },
  {
    title: "What do we expect to lose in a year, and how much do the planned controls save?",
    calls: [
      {
        server: "grc",
        tool: "list_risk_quantifications",
        args: () => ({}),
        keep: ["risk_quantifications.id", "risk_quantifications.name", "risk_quantifications.status", "total_size"],
      },
      {
        server: "grc",
        tool: "get_financial_summary",
        args: ([{ risk_quantifications }]) => ({
          quantification_id: risk_quantifications.find(({ status }: { status: string }) => status === "in_progress").id,
        }),
        keep: [
          "quantification.name",
          "currency",
          "current_annual_loss",
          "residual_annual_loss",
          "risk_reduction",
          "selected_risk_reduction",
          "treatment_cost",
          "scenarios.name",
          "scenarios.current.annual_loss",
        ],
      },
    ],
    inWords: ([, { currency, current_annual_loss, selected_risk_reduction, treatment_cost, scenarios }]) =>
      `The expected loss is **${currency} ${current_annual_loss}** a year. The planned controls cost **${currency} ${treatment_cost}** and reduce it by **${currency} ${selected_risk_reduction}**, in the scenarios whose loss after treatment is known. The costliest scenario is ${names([scenarios[0]])}.`,
  },
];
