// Short titles of the requirements of two public frameworks, in their order.

type Category = readonly [id: string, name: string, subcategories: string];

/** NIST Cybersecurity Framework 2.0: functions, their categories, and the subcategories by number. */
export const CSF: readonly (readonly [id: string, name: string, categories: readonly Category[]])[] = [
  [
    "GV",
    "GOVERN",
    [
      [
        "OC",
        "Organizational Context",
        "01 The organizational mission is understood and informs cybersecurity risk management|02 Internal and external stakeholders are understood|03 Legal, regulatory and contractual requirements are managed|04 Critical objectives and services are communicated|05 Outcomes and services the organization depends on are communicated",
      ],
      [
        "RM",
        "Risk Management Strategy",
        "01 Risk management objectives are agreed|02 Risk appetite and tolerance are stated|03 Cybersecurity risk is part of enterprise risk management|04 Strategic direction for risk response is set|05 Lines of communication for risk are set|06 A standard method for rating risk is in use|07 Strategic opportunities are part of risk discussions",
      ],
      [
        "RR",
        "Roles, Responsibilities, and Authorities",
        "01 Leadership is accountable for cybersecurity risk|02 Roles and responsibilities are enforced|03 Resources match the risk strategy|04 Cybersecurity is part of human resources practices",
      ],
      ["PO", "Policy", "01 Policy is established and communicated|02 Policy is reviewed and enforced"],
      [
        "OV",
        "Oversight",
        "01 Outcomes are reviewed to adjust strategy|02 The strategy is reviewed to cover requirements|03 Performance is evaluated for adjustments",
      ],
      [
        "SC",
        "Cybersecurity Supply Chain Risk Management",
        "01 A supply chain risk program is established|02 Roles of suppliers and customers are coordinated|03 Supply chain risk is part of risk management|04 Suppliers are known and ranked by criticality|05 Requirements are part of contracts|06 Due diligence is done before contracts|07 Supplier risks are monitored over the relationship|08 Suppliers are part of incident planning|09 Supply chain practices are monitored over the life cycle|10 Plans cover the end of a relationship",
      ],
    ],
  ],
  [
    "ID",
    "IDENTIFY",
    [
      [
        "AM",
        "Asset Management",
        "01 Inventories of hardware are maintained|02 Inventories of software and services are maintained|03 Network communication and data flows are represented|04 Inventories of supplier services are maintained|05 Assets are ranked by criticality|07 Inventories of data are maintained|08 Systems and data are managed over their life cycle",
      ],
      [
        "RA",
        "Risk Assessment",
        "01 Vulnerabilities in assets are identified and recorded|02 Threat intelligence is received|03 Threats are identified and recorded|04 Impacts and likelihoods are identified|05 Threats and impacts are used to understand risk|06 Risk responses are chosen and tracked|07 Changes and exceptions are managed|08 Vulnerability disclosures are handled|09 Authenticity of hardware and software is assessed|10 Critical suppliers are assessed before acquisition",
      ],
      [
        "IM",
        "Improvement",
        "01 Improvements come from evaluations|02 Improvements come from tests and exercises|03 Improvements come from operations|04 Incident response plans are maintained",
      ],
    ],
  ],
  [
    "PR",
    "PROTECT",
    [
      [
        "AA",
        "Identity Management, Authentication, and Access Control",
        "01 Identities and credentials are managed|02 Identities are proofed and bound to credentials|03 Users, services and hardware are authenticated|04 Identity assertions are protected|05 Access permissions follow least privilege|06 Physical access is managed",
      ],
      [
        "AT",
        "Awareness and Training",
        "01 Personnel are trained for general tasks|02 Specialists are trained for their tasks",
      ],
      [
        "DS",
        "Data Security",
        "01 Data at rest is protected|02 Data in transit is protected|10 Data in use is protected|11 Backups are created, protected and tested",
      ],
      [
        "PS",
        "Platform Security",
        "01 Configuration management is applied|02 Software is maintained and removed by risk|03 Hardware is maintained and removed by risk|04 Log records are generated for monitoring|05 Unauthorized software is prevented|06 Secure development practices are integrated",
      ],
      [
        "IR",
        "Technology Infrastructure Resilience",
        "01 Networks are protected from unauthorized access|02 Technology is protected from environmental threats|03 Mechanisms achieve resilience requirements|04 Kind capacity ensures availability",
      ],
    ],
  ],
  [
    "DE",
    "DETECT",
    [
      [
        "CM",
        "Continuous Monitoring",
        "01 Networks are monitored|02 The physical environment is monitored|03 Personnel activity is monitored|06 External service providers are monitored|09 Computing hardware and software are monitored",
      ],
      [
        "AE",
        "Adverse Event Analysis",
        "02 Adverse events are analyzed|03 Information is correlated from several sources|04 Impact and scope are understood|06 Information is given to authorized staff|07 Threat intelligence is part of the analysis|08 Incidents are declared by criteria",
      ],
    ],
  ],
  [
    "RS",
    "RESPOND",
    [
      [
        "MA",
        "Incident Management",
        "01 The response plan is executed|02 Incident reports are triaged|03 Incidents are categorized|04 Incidents are escalated|05 Criteria for recovery are applied",
      ],
      [
        "AN",
        "Incident Analysis",
        "03 Root cause is established|06 Actions are recorded with integrity|07 Incident data is collected and preserved|08 Magnitude is estimated",
      ],
      [
        "CO",
        "Incident Response Reporting and Communication",
        "02 Stakeholders are notified of incidents|03 Information is shared with stakeholders",
      ],
      ["MI", "Incident Mitigation", "01 Incidents are contained|02 Incidents are eradicated"],
    ],
  ],
  [
    "RC",
    "RECOVER",
    [
      [
        "RP",
        "Incident Recovery Plan Execution",
        "01 The recovery part of the plan is executed|02 Recovery actions are prioritized|03 Integrity of backups is verified|04 Critical functions are considered after incidents|05 Integrity of restored assets is verified|06 The end of recovery is declared",
      ],
      [
        "CO",
        "Incident Recovery Communication",
        "03 Recovery progress is communicated|04 Public updates use approved methods",
      ],
    ],
  ],
];

/** ISO/IEC 27001:2022: clauses with their parts, then the themes of Annex A with their controls. */
export const ISO: readonly (readonly [string, string, string])[] = [
  [
    "4",
    "Context of the organization",
    "The organization and its context|Needs of interested parties|Scope of the management system|Information security management system",
  ],
  ["5", "Leadership", "Leadership and commitment|Policy|Organizational roles, responsibilities and authorities"],
  ["6", "Planning", "Actions to address risks and opportunities|Information security objectives|Planning of changes"],
  ["7", "Support", "Resources|Competence|Awareness|Communication|Documented information"],
  [
    "8",
    "Operation",
    "Operational planning and control|Information security risk assessment|Information security risk treatment",
  ],
  ["9", "Performance evaluation", "Monitoring, measurement, analysis and evaluation|Internal audit|Management review"],
  ["10", "Improvement", "Continual improvement|Nonconformity and corrective action"],
  [
    "A.5",
    "Organizational controls",
    "Policies for information security|Information security roles and responsibilities|Segregation of duties|Management responsibilities|Contact with authorities|Contact with special interest groups|Threat intelligence|Information security in project management|Inventory of information and other associated assets|Acceptable use of information|Return of assets|Classification of information|Labelling of information|Information transfer|Access control|Identity management|Authentication information|Access rights|Information security in supplier relationships|Security within supplier agreements|Security in the ICT supply chain|Monitoring of supplier services|Security for use of cloud services|Incident management planning|Assessment of security events|Response to incidents|Learning from incidents|Collection of evidence|Security during disruption|ICT readiness for business continuity|Legal and contractual requirements|Intellectual property rights|Protection of records|Privacy and protection of PII|Independent review of information security|Compliance with policies and standards|Documented operating procedures",
  ],
  [
    "A.6",
    "People controls",
    "Screening|Terms and conditions of employment|Awareness, education and training|Disciplinary process|Responsibilities after termination|Confidentiality agreements|Remote working|Information security event reporting",
  ],
  [
    "A.7",
    "Physical controls",
    "Physical security perimeters|Physical entry|Securing offices, rooms and facilities|Physical security monitoring|Protecting against environmental threats|Working in secure areas|Clear desk and clear screen|Equipment siting and protection|Security of assets off-premises|Storage media|Supporting utilities|Cabling security|Equipment maintenance|Secure disposal of equipment",
  ],
  [
    "A.8",
    "Technological controls",
    "User endpoint devices|Privileged access rights|Information access restriction|Access to source code|Secure authentication|Capacity management|Protection against malware|Management of technical vulnerabilities|Configuration management|Information deletion|Data masking|Data leakage prevention|Information backup|Redundancy of processing facilities|Logging|Monitoring activities|Clock synchronization|Use of privileged utility programs|Installation of software on operational systems|Networks security|Security of network services|Segregation of networks|Web filtering|Use of cryptography|Secure development life cycle|Application security requirements|Secure architecture and engineering|Secure coding|Security testing|Outsourced development|Separation of environments|Change management|Test information|Protection during audit testing",
  ],
];

/** Maturity levels of the NIST CSF. */
export const CSF_LEVELS = [
  ["Partial", "Risk management is done case by case."],
  ["Risk informed", "Practices are approved by management but not yet organization-wide policy."],
  ["Repeatable", "Practices are formally approved and expressed as policy."],
  ["Adaptive", "The organization adapts its practices from lessons learned and predictive indicators."],
].map(([name, description], i) => ({
  score: i + 1,
  name: name as string,
  description: description as string,
  translations: {},
}));
