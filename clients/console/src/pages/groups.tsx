import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Plus, UsersRound } from "lucide-react";
import { useState } from "react";
import {
  CreateGroupRequestSchema,
  type Group,
  GroupService,
  UpdateGroupRequestSchema,
} from "#api/auth/v1/group_service_pb";
import { ago } from "../format";
import { useRefresh } from "../service/refresh";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { Dialog } from "../ui/dialog";
import { MessageForm } from "../ui/message-form";
import { Empty, Failure, Skeleton } from "../ui/notice";
import { Pager, usePages } from "../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";
import { tell } from "../ui/toasts";

const { listGroups, createGroup, updateGroup, deleteGroup } = GroupService.method;
const NAME = { name: { label: "Name", isRequired: true } };

/** Settings > Groups. Who is in one is set at the person. */
export function Page() {
  const pages = usePages();
  const { data, error, isPending, refetch } = useQuery(listGroups, { pageSize: 25, pageToken: pages.token });
  const [isCreating, setCreating] = useState(false);
  const [renaming, setRenaming] = useState<Group>();
  const [deleting, setDeleting] = useState<Group>();
  async function showTheirs({ id, name }: Group): Promise<void> {
    const now = (await refetch()).data?.groups.find((group) => group.id === id);
    if (now === undefined) tell(`“${name}” is deleted`, "Somebody else did that.");
    setRenaming(now);
  }
  return (
    <>
      <div className="head">
        <div>
          <h1>Groups</h1>
          <p>Agents, knowledge and other objects can be shared with a group. People are put into one at People.</p>
        </div>
        <Button look="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden />
          New group
        </Button>
      </div>
      {error ? (
        <Failure error={error} what="The groups" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="the groups" />
      ) : data.groups.length === 0 ? (
        <Empty icon={UsersRound} title="There is no group">
          Create one, then put people into it.
        </Empty>
      ) : (
        <>
          <div className="panel">
            <Table aria-label="Groups" className="table">
              <TableHeader>
                <Column>Name</Column>
                <Column>People</Column>
                <Column>Created</Column>
                <Column>
                  <span className="sr">Actions</span>
                </Column>
              </TableHeader>
              <TableBody>
                {data.groups.map((group) => (
                  <Row key={group.id}>
                    <Cell isHeader>
                      <b>{group.name}</b>
                    </Cell>
                    <Cell>{group.memberCount}</Cell>
                    <Cell>{group.createdAt && ago(group.createdAt)}</Cell>
                    <Cell className="end">
                      <Button look="quiet" onPress={() => setRenaming(group)} aria-label={`Rename ${group.name}`}>
                        Rename
                      </Button>
                      <Button look="quiet" onPress={() => setDeleting(group)} aria-label={`Delete ${group.name}`}>
                        Delete
                      </Button>
                    </Cell>
                  </Row>
                ))}
              </TableBody>
            </Table>
          </div>
          <Pager pages={pages} nextToken={data.nextPageToken} />
        </>
      )}
      <Dialog isOpen={isCreating} onClose={() => setCreating(false)}>
        {(close) => <CreateGroup close={close} />}
      </Dialog>
      <Dialog isOpen={renaming !== undefined} onClose={() => setRenaming(undefined)}>
        {(close) =>
          renaming && (
            <RenameGroup
              key={renaming.name}
              group={renaming}
              showTheirs={() => void showTheirs(renaming)}
              close={close}
            />
          )
        }
      </Dialog>
      <Dialog isOpen={deleting !== undefined} isAlert onClose={() => setDeleting(undefined)}>
        {(close) => deleting && <DeleteGroup group={deleting} close={close} />}
      </Dialog>
    </>
  );
}

function CreateGroup({ close }: { close: () => void }) {
  const title = "New group";
  const refresh = useRefresh(listGroups);
  const { isPending, error, mutate } = useMutation(createGroup, {
    onSuccess: () => {
      close();
      return refresh();
    },
  });
  return (
    <MessageForm
      schema={CreateGroupRequestSchema}
      fields={NAME}
      title={title}
      submit="Create group"
      failed="The group was not created"
      work={{ isPending, error, run: (values) => mutate(values) }}
      close={close}
    />
  );
}

function RenameGroup({
  group,
  showTheirs,
  close,
}: {
  group: Group;
  /** Reads the group again. */
  showTheirs: () => void;
  close: () => void;
}) {
  const title = `Rename ${group.name}`;
  const refresh = useRefresh(listGroups);
  const { isPending, error, mutate } = useMutation(updateGroup, {
    onSuccess: () => {
      close();
      return refresh();
    },
  });
  return (
    <MessageForm
      schema={UpdateGroupRequestSchema}
      fields={NAME}
      initial={{ name: group.name }}
      title={title}
      submit="Rename"
      failed="The group was not renamed"
      work={{ isPending, error, run: (values) => mutate({ id: group.id, ...values, expected: group }) }}
      about={group.id}
      showTheirs={showTheirs}
      close={close}
    />
  );
}

function DeleteGroup({ group, close }: { group: Group; close: () => void }) {
  const refresh = useRefresh(listGroups);
  const { isPending, error, mutate } = useMutation(deleteGroup, {
    onSuccess: () => {
      tell(`“${group.name}” is deleted`);
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Delete “${group.name}”?`}
      keep="Keep it"
      doIt="Delete group"
      failed="The group was not deleted"
      work={{ isPending, error, run: () => mutate({ id: group.id }) }}
      close={close}
    >
      <p>Its people lose what is shared with it. The people themselves stay. This cannot be undone.</p>
    </Confirm>
  );
}
