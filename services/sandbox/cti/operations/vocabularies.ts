/** An open vocabulary: which attributes of which types take its words. */
export interface Vocabulary {
  readonly category: string;
  readonly types: readonly string[];
  readonly fields: readonly { readonly key: string; readonly required: boolean; readonly multiple: boolean }[];
  /** In the order of the platform: by their rank, and then by name. */
  readonly words: readonly string[];
}

type Row = readonly [category: string, types: string, fields: string, words: string];

// As the platform is delivered (modules/vocabulary/vocabulary-utils.ts of its
// sources), for the attributes that the sandbox has. An attribute ends in "!"
// where it is required, and in "*" where it takes several words.
const ROWS: readonly Row[] = [
  [
    "attack_resource_level_ov",
    "Threat-Actor-Group Intrusion-Set",
    "resource_level",
    "club|contest|government|individual|organization|team",
  ],
  [
    "attack_motivation_ov",
    "Threat-Actor-Group Intrusion-Set",
    "primary_motivation secondary_motivations* personal_motivations*",
    "accidental|coercion|dominance|ideology|notoriety|organizational-gain|personal-gain|personal-satisfaction|revenge|unpredictable",
  ],
  ["case_severity_ov", "Case-Incident Case-Rfi Case-Rft", "severity", "low|medium|high|critical"],
  ["case_priority_ov", "Case-Incident Case-Rfi Case-Rft", "priority", "P1|P2|P3|P4"],
  ["channel_types_ov", "Channel", "channel_types*", "Facebook|Twitter"],
  [
    "event_type_ov",
    "Event",
    "event_types*",
    "conference|financial|holiday|international-summit|local-election|national-election|sport-competition",
  ],
  ["grouping_context_ov", "Grouping", "context!", "malware-analysis|suspicious-activity|unspecified"],
  ["incident_response_types_ov", "Case-Incident", "response_types*", "data-leak|ransomware"],
  [
    "incident_type_ov",
    "Incident",
    "incident_type",
    "alert|compromise|cybercrime|data-leak|information-system-disruption|phishing|ransomware|reputation-damage|typosquatting",
  ],
  ["incident_severity_ov", "Incident", "severity", "low|medium|high|critical"],
  [
    "indicator_type_ov",
    "Indicator",
    "indicator_types*",
    "anomalous-activity|anonymization|attribution|benign|compromised|malicious-activity|unknown",
  ],
  [
    "infrastructure_type_ov",
    "Infrastructure",
    "infrastructure_types*",
    "amplification|anonymization|botnet|command-and-control|control-system|exfiltration|firewall|hosting-malware|hosting-target-lists|phishing|reconnaissance|routers-switches|staging|unknown|workstation",
  ],
  ["malware_result_ov", "Malware-Analysis", "result", "benign|malicious|suspicious|unknown"],
  [
    "malware_type_ov",
    "Malware",
    "malware_types*",
    "adware|backdoor|bootkit|bot|ddos|downloader|dropper|exploit-kit|keylogger|ransomware|remote-access-trojan|resource-exploitation|rogue-security-software|rootkit|screen-capture|spyware|trojan|unknown|virus|webshell|wiper|worm",
  ],
  ["note_types_ov", "Note", "note_types*", "analysis|assessment|external|feedback|internal"],
  ["opinion_ov", "Opinion", "opinion!", "strongly-disagree|disagree|neutral|agree|strongly-agree"],
  ["organization_type_ov", "Organization", "x_opencti_organization_type", "constituent|csirt|other|partner|vendor"],
  ["platforms_ov", "Data-Source Indicator Attack-Pattern", "x_mitre_platforms*", "android|linux|macos|windows"],
  ["collection_layers_ov", "Data-Source", "collection_layers*", "cloud-control-plane|container|host|network|OSINT"],
  [
    "pattern_type_ov",
    "Indicator",
    "pattern_type!",
    "eql|nova|pcre|shodan|sigma|snort|spl|stix|suricata|tanium-signal|yara",
  ],
  [
    "processor_architecture_ov",
    "Malware",
    "architecture_execution_envs*",
    "alpha|arm|ia-64|mips|powerpc|sparc|x86|x86-64",
  ],
  [
    "reliability_ov",
    "Report Organization Individual System",
    "x_opencti_reliability",
    "A - Completely reliable|B - Usually reliable|C - Fairly reliable|D - Not usually reliable|E - Unreliable|F - Reliability cannot be judged",
  ],
  ["report_types_ov", "Report", "report_types*", "internal-report|threat-report"],
  ["request_for_information_types_ov", "Case-Rfi", "information_types*", "none"],
  ["request_for_takedown_types_ov", "Case-Rft", "takedown_types*", "brand-abuse|phishing"],
  ["security_platform_type_ov", "SecurityPlatform", "security_platform_type", "EDR|ISPM|NDR|SIEM|SOAR|XDR"],
  [
    "threat_actor_group_type_ov",
    "Threat-Actor-Group",
    "threat_actor_types*",
    "activist|competitor|crime-syndicate|criminal|hacker|insider-accidental|insider-disgruntled|nation-state|sensationalist|spy|terrorist|unknown",
  ],
  [
    "threat_actor_group_role_ov",
    "Threat-Actor-Group",
    "roles*",
    "agent|director|independent|infrastructure-architect|infrastructure-operator|malware-author|sponsor",
  ],
  [
    "threat_actor_group_sophistication_ov",
    "Threat-Actor-Group",
    "sophistication",
    "advanced|expert|innovator|intermediate|minimal|none|strategic",
  ],
  [
    "threat_actor_individual_type_ov",
    "Threat-Actor-Individual",
    "threat_actor_types*",
    "activist|competitor|crime-syndicate|criminal|hacker|insider-accidental|insider-disgruntled|nation-state|sensationalist|spy|terrorist|unknown",
  ],
  [
    "threat_actor_individual_role_ov",
    "Threat-Actor-Individual",
    "roles*",
    "agent|director|independent|infrastructure-architect|infrastructure-operator|malware-author|sponsor",
  ],
  [
    "threat_actor_individual_sophistication_ov",
    "Threat-Actor-Individual",
    "sophistication",
    "advanced|expert|innovator|intermediate|minimal|none|strategic",
  ],
  [
    "tool_types_ov",
    "Tool",
    "tool_types*",
    "credential-exploitation|denial-of-service|exploitation|information-gathering|network-capture|remote-access|unknown|vulnerability-scanning",
  ],
];

/** The vocabularies. */
export const VOCABULARIES: readonly Vocabulary[] = ROWS.map(([category, types, fields, words]) => ({
  category,
  types: types.split(" "),
  fields: fields.split(" ").map((field) => ({
    key: field.replace(/[!*]/g, ""),
    required: field.includes("!"),
    multiple: field.includes("*"),
  })),
  words: words.split("|"),
}));

/** What holds the words of an attribute; undefined where any will do. */
export function vocabularyOf(type: string, attribute: string): Vocabulary | undefined {
  return VOCABULARIES.find(({ types, fields }) => types.includes(type) && fields.some(({ key }) => key === attribute));
}
