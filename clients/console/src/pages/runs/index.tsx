import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { Activity } from "lucide-react";
import { AgentService } from "#api/core/v1/agent_service_pb";
import { type Run, RunState, RunTrigger } from "#api/core/v1/run_pb";
import { RunService } from "#api/core/v1/run_service_pb";
import { ago, exactly } from "../../format";
import { StatusBadge } from "../../ui/badge";
import { Choice } from "../../ui/choice";
import { Empty, Failure, Skeleton } from "../../ui/notice";
import { Pager, usePages } from "../../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../../ui/table";
import { costOf, hasEnded, STATES, standingOf, tookOf } from "./words";

/** How often a list is read again in which something goes on, in milliseconds. */
const AGAIN_MS = 5_000;
const ANY = { id: "all", name: "Every agent" };

/** What is looked for, as the address of the page says it. */
interface Filter {
  readonly state?: string;
  readonly agent?: string;
}

/** Agents > Runs: what agents do and did in the person's name. */
export function Page() {
  const filter: Filter = useSearch({ strict: false });
  return <Filtered key={JSON.stringify(filter)} filter={filter} />;
}

function Filtered({ filter: { state = "all", agent = "all" } }: { filter: Filter }) {
  const router = useRouter();
  const pages = usePages();
  const { data, error, isPending, refetch } = useQuery(
    RunService.method.listRuns,
    {
      state: STATES.find(({ id }) => id === state)?.state ?? RunState.UNSPECIFIED,
      agentId: agent === "all" ? "" : agent,
      pageSize: 25,
      pageToken: pages.token,
    },
    { refetchInterval: ({ state: { data: last } }) => (last?.runs.some((run) => !hasEnded(run)) ? AGAIN_MS : false) },
  );
  // Without the agents' names the runs are there all the same.
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 100 }).data?.agents ?? [];
  const known = agents.map(({ id, name }) => ({ id, name }));
  const named = data?.runs.find((run) => run.agent?.id === agent)?.agent?.name ?? agent;
  const isKnown = agent === "all" || known.some(({ id }) => id === agent);
  const look = (changed: Filter): void =>
    void router.navigate({ to: "." as never, search: { state, agent, ...changed } as never });
  return (
    <>
      <div className="head">
        <div>
          <h1>Runs</h1>
          <p>The work of agents in your name, also from your schedules. Only you see it.</p>
        </div>
      </div>
      <div className="choices panel">
        <Choice label="State" value={state} items={STATES} onChange={(id) => look({ state: id })} />
        <Choice
          label="Agent"
          value={agent}
          items={[ANY, ...known, ...(isKnown ? [] : [{ id: agent, name: named }])]}
          onChange={(id) => look({ agent: id })}
        />
      </div>
      {error ? (
        <Failure error={error} what="Your runs" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="your runs" />
      ) : data.runs.length === 0 ? (
        <Empty icon={Activity} title="No runs">
          {state === "all" && agent === "all"
            ? "Trigger one from your MCP client, or give an assignment a schedule: it appears here."
            : "Choose another state, or another agent."}
        </Empty>
      ) : (
        <>
          <RunTable runs={data.runs} />
          <Pager pages={pages} nextToken={data.nextPageToken ?? ""} />
        </>
      )}
    </>
  );
}

function RunTable({ runs }: { runs: readonly Run[] }) {
  return (
    <div className="panel">
      <Table aria-label="Runs" className="table wrap">
        <TableHeader>
          <Column>Task</Column>
          <Column>State</Column>
          <Column>Agent</Column>
          <Column>Assignment</Column>
          <Column>Steps</Column>
          <Column>Began</Column>
          <Column>Took</Column>
          <Column>Cost</Column>
        </TableHeader>
        <TableBody>
          {runs.map((run) => (
            <Row key={run.id}>
              <Cell isHeader>
                <Link to={`/agents/runs/${run.id}` as never}>{run.input || "No task"}</Link>
              </Cell>
              <Cell>
                <StatusBadge {...standingOf(run)} />
              </Cell>
              <Cell>{run.agent?.name}</Cell>
              <Cell>
                {run.assignment?.name ?? <span className="faint">None</span>}
                {run.trigger === RunTrigger.SCHEDULE && <span className="faint"> by schedule</span>}
              </Cell>
              <Cell>{run.stepCount}</Cell>
              <Cell>{run.createdAt && <time title={exactly(run.createdAt)}>{ago(run.createdAt)}</time>}</Cell>
              <Cell>
                {run.createdAt && run.endedAt ? (
                  tookOf(timestampMs(run.endedAt) - timestampMs(run.createdAt))
                ) : (
                  <span className="faint">Not ended</span>
                )}
              </Cell>
              <Cell>{run.cost && costOf(run.cost)}</Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}
