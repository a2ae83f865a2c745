import { useQuery } from "@connectrpc/connect-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { GroupService } from "#api/auth/v1/group_service_pb";
import { type User, UserService } from "#api/auth/v1/user_service_pb";
import { StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Failure, Skeleton } from "../../ui/notice";
import { Pager, usePages } from "../../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../../ui/table";
import { tell } from "../../ui/toasts";
import { ChangePerson } from "./change-person";
import { CreatePerson } from "./create-person";
import { DeletePerson } from "./delete-person";

const MOST_GROUPS = 100;

/** Settings > People. */
export function Page() {
  const pages = usePages();
  const people = useQuery(UserService.method.listUsers, { pageSize: 25, pageToken: pages.token });
  const groups = useQuery(GroupService.method.listGroups, { pageSize: MOST_GROUPS }).data?.groups ?? [];
  const [isCreating, setCreating] = useState(false);
  const [changing, setChanging] = useState<User>();
  const [deleting, setDeleting] = useState<User>();
  async function showTheirs({ id, name }: User): Promise<void> {
    const { data } = await people.refetch();
    const now = data?.users.find((user) => user.id === id);
    if (now === undefined) tell(`${name} is deleted`, "Somebody else did that.");
    setChanging(now);
  }
  const choices = groups.map(({ id, name }) => ({ id, name }));
  return (
    <>
      <div className="head">
        <div>
          <h1>People</h1>
          <p>Who may sign in, and who administers.</p>
        </div>
        <Button look="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden />
          New person
        </Button>
      </div>
      {people.error ? (
        <Failure error={people.error} what="The people" retry={() => void people.refetch()} />
      ) : people.isPending ? (
        <Skeleton what="the people" />
      ) : (
        <>
          <div className="panel">
            <Table aria-label="People" className="table">
              <TableHeader>
                <Column>Name</Column>
                <Column>E-mail address</Column>
                <Column>Groups</Column>
                <Column>Status</Column>
                <Column>
                  <span className="sr">Actions</span>
                </Column>
              </TableHeader>
              <TableBody>
                {people.data.users
                  .filter(({ service }) => !service)
                  .map((user) => (
                    <Row key={user.id}>
                      <Cell isHeader>
                        <b>{user.name}</b>
                        {user.admin && <span className="tag">Admin</span>}
                      </Cell>
                      <Cell>{user.email}</Cell>
                      <Cell>{namesOf(user, choices) || <span className="faint">None</span>}</Cell>
                      <Cell>
                        <StatusBadge
                          status={user.disabled ? "off" : "connected"}
                          word={user.disabled ? "Disabled" : "Active"}
                        />
                      </Cell>
                      <Cell className="end">
                        <Button look="quiet" onPress={() => setChanging(user)} aria-label={`Change ${user.name}`}>
                          Change
                        </Button>
                        <Button look="quiet" onPress={() => setDeleting(user)} aria-label={`Delete ${user.name}`}>
                          Delete
                        </Button>
                      </Cell>
                    </Row>
                  ))}
              </TableBody>
            </Table>
          </div>
          <Pager pages={pages} nextToken={people.data.nextPageToken} />
        </>
      )}
      <Dialog isOpen={isCreating} onClose={() => setCreating(false)}>
        {(close) => <CreatePerson groups={choices} close={close} />}
      </Dialog>
      <Dialog isOpen={changing !== undefined} onClose={() => setChanging(undefined)}>
        {(close) =>
          changing && (
            <ChangePerson
              key={String(changing.updatedAt?.seconds) + changing.updatedAt?.nanos}
              user={changing}
              groups={choices}
              showTheirs={() => void showTheirs(changing)}
              close={close}
            />
          )
        }
      </Dialog>
      <Dialog isOpen={deleting !== undefined} isAlert onClose={() => setDeleting(undefined)}>
        {(close) => deleting && <DeletePerson user={deleting} close={close} />}
      </Dialog>
    </>
  );
}

function namesOf({ groups }: User, known: readonly { id: string; name: string }[]): string {
  return groups.map((id) => known.find((group) => group.id === id)?.name ?? id).join(", ");
}
