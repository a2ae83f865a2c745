import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { useMemo } from "react";
import { Form, Input, Label, TextField } from "react-aria-components";
import { AuditKind, type AuditRecord, AuditService } from "#api/auth/v1/audit_service_pb";
import { exactly } from "../format";
import { Choice } from "../ui/choice";
import { Empty, Failure, Skeleton } from "../ui/notice";
import { Pager, usePages } from "../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";

const KINDS = [
  { id: "all", name: "Everything", kind: AuditKind.UNSPECIFIED },
  { id: "administration", name: "Administration", kind: AuditKind.ADMINISTRATION },
  { id: "write", name: "Writes", kind: AuditKind.WRITE },
  { id: "refusal", name: "Refusals", kind: AuditKind.REFUSAL },
  { id: "sign_in", name: "Sign-ins", kind: AuditKind.SIGN_IN },
  { id: "read", name: "Reads for others", kind: AuditKind.READ },
];
const HOUR_MS = 3_600_000;
const PERIODS = [
  { id: "day", name: "The last 24 hours", ms: 24 * HOUR_MS },
  { id: "week", name: "The last 7 days", ms: 7 * 24 * HOUR_MS },
  { id: "month", name: "The last 30 days", ms: 30 * 24 * HOUR_MS },
  { id: "all", name: "All that is kept", ms: 0 },
];

/** What is looked for, as the address of the page says it: an address can be given to a colleague. */
interface Filter {
  readonly kind?: string;
  readonly person?: string;
  readonly period?: string;
}

/** Settings > Audit. */
export function Page() {
  const filter: Filter = useSearch({ strict: false });
  // Pages of one filter are not those of another, also if the browser goes back.
  return <Filtered key={JSON.stringify(filter)} filter={filter} />;
}

function Filtered({ filter }: { filter: Filter }) {
  const router = useRouter();
  const { kind = "all", person = "", period = "week" } = filter;
  const pages = usePages();
  const since = useMemo(() => {
    const ms = PERIODS.find(({ id }) => id === period)?.ms ?? 0;
    return ms === 0 ? undefined : timestampFromMs(Date.now() - ms);
  }, [period]);
  const { data, error, isPending, refetch } = useQuery(AuditService.method.listAuditRecords, {
    kind: KINDS.find(({ id }) => id === kind)?.kind ?? AuditKind.UNSPECIFIED,
    userEmail: person,
    ...(since !== undefined && { since }),
    pageSize: 50,
    pageToken: pages.token,
  });
  function look(changed: Filter): void {
    void router.navigate({ to: "." as never, search: { kind, person, period, ...changed } as never });
  }
  return (
    <>
      <div className="head">
        <div>
          <h1>Audit</h1>
          <p>Every write and every refused call: who, with which key, on what, with what outcome.</p>
        </div>
      </div>
      <div className="choices panel">
        <Choice label="What" value={kind} items={KINDS} onChange={(id) => look({ kind: id })} />
        <Choice label="When" value={period} items={PERIODS} onChange={(id) => look({ period: id })} />
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            look({ person: String(new FormData(event.currentTarget).get("person")).trim() });
          }}
        >
          <TextField name="person" defaultValue={person}>
            <Label>Whose, by e-mail address</Label>
            <Input autoComplete="off" placeholder="Anybody's: Enter searches" />
          </TextField>
        </Form>
      </div>
      {error ? (
        <Failure error={error} what="The audit" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="the audit" />
      ) : data.records.length === 0 ? (
        <Empty icon={ScrollText} title="Nothing is recorded">
          Choose a longer period, or another kind.
        </Empty>
      ) : (
        <>
          <Records records={data.records} />
          <Pager pages={pages} nextToken={data.nextPageToken} />
        </>
      )}
    </>
  );
}

function Records({ records }: { records: readonly AuditRecord[] }) {
  return (
    <div className="panel">
      <Table aria-label="Audit records" className="table dense">
        <TableHeader>
          <Column>When</Column>
          <Column>Who</Column>
          <Column>What</Column>
          <Column>On</Column>
          <Column>Outcome</Column>
        </TableHeader>
        <TableBody>
          {records.map((record) => (
            <Row key={String(record.number)}>
              <Cell>{record.recordedAt && exactly(record.recordedAt)}</Cell>
              <Cell>{record.userEmail || <span className="faint">Nobody known</span>}</Cell>
              <Cell isHeader>
                <b>{record.action.split("/").at(-1)}</b>
                {record.count > 1 && <span className="faint"> {record.count} times</span>}
              </Cell>
              <Cell>{record.targetEmail || (record.target && <code>{record.target}</code>)}</Cell>
              <Cell>{record.outcome}</Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}
