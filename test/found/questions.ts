/** What is asked, and the tools that answer it. */
export interface Asked {
  readonly server: string;
  /** A query as a model writes it, or a person's own words. */
  readonly by: "model" | "person";
  readonly query: string;
  readonly tools: readonly string[];
}

// One line a tool, or several that do as well: the query of a model, and the words of a person.
const ROWS: Readonly<Record<string, string>> = {
  cti: `
whoami | current user capabilities markings | what am I allowed to do in OpenCTI
list_entity_types | list entity types | what kinds of objects does the platform know
create_note | create note on entity | write a comment on this threat actor
add_labels | add label to object | tag this malware as phishing
remove_markings | remove TLP marking | make this report visible to everyone again
list_cases | list incident response cases | which investigations are open
create_case_incident | create incident response case | open an investigation for last night's breach
list_tasks | list case tasks | which to-dos are left in this investigation
list_reports | search reports by publication date | what was published about ransomware this week
get_report | get report full text | read me this advisory
list_container_objects | list objects in report | which entities does this report mention
create_report | create threat report | write up our findings as a bulletin
list_intrusion_sets | list intrusion sets | which hacker groups do we know
list_threat_actors | search threat actors | who is behind these attacks
list_campaigns | list campaigns | which attack waves ran this year
list_malware | list malware families | show me ransomware strains
list_attack_patterns | list MITRE ATT&CK attack patterns | which attacker tricks are in the database
list_identities | list organizations sectors | which industries and companies are recorded
list_infrastructures | list C2 infrastructure | command and control servers of botnets
list_courses_of_action,list_entity_relationships | list courses of action mitigations | how can we defend against this technique
get_entity_stix | get STIX object raw json | export this in STIX format
merge_entities | merge duplicate entities | these two groups are the same, combine them
find_entity_by_name | find entity by name alias | is Fancy Bear in there
list_indicators | search indicators by pattern | give me IoCs to put into the firewall
lookup_ioc | lookup ip address hash ioc | is this IP bad
create_indicator | create indicator stix pattern | add a detection rule for this
create_observable | create observable domain | record this suspicious domain
list_entity_ttps | list TTPs used by intrusion set | how does this group attack
list_vulnerabilities | list vulnerabilities cvss score | which security holes are critical
lookup_vulnerability | lookup CVE-2024-3094 | tell me about the xz backdoor CVE
list_sightings | list sightings of indicator | where was this seen
list_relationships,list_entity_relationships | list relationships of entity | what is connected to this malware
list_recent_changes | list recent changes platform | what happened on the platform today
count_entities | count entities by type | how many malware do we have`,
  aev: `
whoami | current user permissions account | what may I do in OpenAEV
list_scenarios | list scenarios | which attack plans do we have
create_scenario | create scenario | set up a new cyber drill
launch_scenario | launch scenario start simulation | run the ransomware exercise now
schedule_scenario | schedule recurring scenario | repeat this test every Monday
list_simulations | list simulations status | which exercises are running
get_simulation_results | get simulation results prevention detection score | how well did we do in the last exercise
set_simulation_status | pause or cancel simulation | stop the exercise
list_injects | list injects of scenario | which steps does this exercise have
create_inject | create inject | add a phishing mail to the exercise
list_injector_contracts | list injector contracts | which kinds of attack actions can I use
list_atomic_tests | list atomic tests | single attack tests we ran
launch_atomic_test | launch atomic test | run one attack against this laptop
list_endpoints | list endpoints with agent | which computers have the agent installed
list_asset_groups | list asset groups | groups of machines
list_teams | list teams | which departments take part in the drill
list_players | list players | which people get the phishing mails
list_payloads | list payloads by platform | which malicious commands do we have for Windows
create_payload | create payload command | add a new attack script
list_findings | list findings of simulation | what weaknesses did the attack find
list_expectations | list expectations results | did our EDR block it
set_expectation_result | set expectation result manually | mark this as detected by the SOC
list_documents | list documents files | attachments used in exercises
upload_document | upload document | put a file on the platform
list_channels | list media channels | fake news sites for the exercise
create_article | create article media pressure | write a fake press story
list_challenges | list challenges flags | quiz questions for the participants
list_lessons_answers | list lessons learned answers | what did participants say afterwards
list_simulation_reports | list simulation reports | summary documents of the exercise
list_attack_patterns | list MITRE attack patterns coverage | which ATT&CK techniques can we test
list_vulnerabilities | list vulnerabilities CVE | which security holes does OpenAEV know`,
  grc: `
whoami | current user roles permissions | what can I do in CISO Assistant
list_assessments | list compliance assessments | how are our audits going
get_assessment | get compliance assessment progress | how far is the ISO 27001 audit
list_requirement_assessments | list requirement assessments non compliant | where do we fall short of NIS2
update_requirement_assessment | update requirement assessment result status | mark this requirement as met
get_assessment_maturity | get assessment maturity score | how mature are we
list_primary_assets | list primary assets | which business processes are most valuable
list_supporting_assets | list supporting assets | which servers and systems are in the inventory
create_asset | create asset | add our new CRM to the inventory
list_controls | list applied controls status | which security measures have we put in place
create_control | create control | plan a new safeguard
update_control | update control status eta owner | the MFA rollout is finished
set_control_maturity | set control maturity score | rate how well this measure works
list_cves | list cves high score | which software bugs should worry us
list_evidence | list evidence expired | what proof do we have for the auditor
create_evidence | create evidence | add proof that backups work
attach_evidence,set_requirement_evidence | attach evidence to control | link this screenshot to the measure
upload_evidence_file | upload evidence file | put the PDF policy in as proof
read_evidence_file | read evidence file content | open the attached document
list_frameworks | list frameworks | which standards do we follow
get_framework_tree | get framework tree structure | outline of ISO 27001
list_requirements | list requirements of framework | what does NIS2 demand
list_reference_controls | list reference controls library | suggested safeguards from the catalogue
list_organizations,get_organization | list organization objectives | what are our company's goals
list_risk_quantifications | list quantitative risk studies | how much could a breach cost us
get_financial_summary | get financial loss summary ALE | expected yearly loss in money
list_risk_scenarios | list risk scenarios by level | show the risk register
create_risk_scenario | create risk scenario | add a new risk about suppliers
list_risk_assessments | list risk assessments | our risk analyses
list_attack_outcomes | list ebios attack outcomes feared event | how could an attacker hurt us
list_tenants | list tenants domains | which customers or subsidiaries are there`,
  core: `
list_agents | list agents | which bots do we have
create_agent | create agent instructions model | build me an assistant that triages mails
get_agent | get agent configuration tools | how is this bot set up
trigger_run | trigger run of agent | let the assistant do this now
get_run | get run status output | is the bot finished
list_runs | list runs | what did my bots do lately
list_run_steps | list run steps | show me each step it took
update_run | cancel run | stop the bot
list_assignments | list assignments schedule | which automations are scheduled
create_assignment | create assignment cron schedule | do this every morning at eight
trigger_assignment | trigger assignment now | start the nightly job right now
list_custom_tools | list custom tools http | our own API calls for bots
create_custom_tool | create custom tool http request | let the bot call our ticket system
list_documents | list documents in knowledge base | which files has the bot read
create_document | create document in knowledge base | feed this text to the bot
search_knowledge | search knowledge base passages | what do our internal docs say about VPN
list_knowledge_bases | list knowledge bases | which document collections exist
create_knowledge_base | create knowledge base embedding | set up RAG for our wiki
list_integrations | list model integrations | which LLM providers are connected
create_integration | create integration openai credential | connect our OpenAI account
test_integration | test integration connection | does the model key still work
list_mcp_servers | list mcp servers | which external tool servers are connected
create_mcp_server | create mcp server url headers | plug in the GitHub MCP
test_mcp_server | test mcp server accept tools | approve the new tools of the server
list_prompts | list prompt templates | saved prompts
render_prompt | render prompt with arguments | fill in the template for me
list_skills | list skills | what are you trained to do
load_skill | load skill instructions | read the how-to for incident reports
list_variables | list variables | stored passwords and settings
create_variable | create secret variable | save an API token for bots
get_usage | get storage usage quota | how much space have I used
inspect_agent_traces | inspect agent traces errors tokens | why did the bot fail`,
};

/** Every question: half as a model asks, half as people do. */
export const QUESTIONS: readonly Asked[] = Object.entries(ROWS).flatMap(([server, rows]) =>
  rows
    .trim()
    .split("\n")
    .flatMap((row) => {
      const [names = "", model = "", person = ""] = row.split(" | ");
      const tools = names.split(",");
      return [
        { server, by: "model" as const, query: model, tools },
        { server, by: "person" as const, query: person, tools },
      ];
    }),
);
