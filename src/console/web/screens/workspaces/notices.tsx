/** Notices about workspaces, one line each above the content, until the user dismisses them. */
import { Eye, EyeOff } from 'lucide-react'
import { ask } from '../../keys/ask.ts'
import { dismissNotice, useNotices } from '../../keys/notices.ts'
import type { WorkspaceNotice } from '../../keys/reports.ts'
import { Button } from '../../parts/button.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { Strip } from '../../parts/page/strip.tsx'
import { queryClient, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.notices
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** For one workspace, or for all of them. */
export function WorkspaceNotices({ workspaceId }: { workspaceId?: string }) {
  const shown = useNotices().filter(
    (each) =>
      each.kind !== 'name' && (workspaceId === undefined || each.workspaceId === workspaceId),
  )
  return (
    <>
      {workspaceId === undefined ? <Hidden /> : null}
      {shown.map((notice) => (
        <Strip
          icon={Eye}
          key={JSON.stringify(notice)}
          action={
            <Button size="small" onPress={() => dismissNotice(notice)}>
              {words.read}
            </Button>
          }
        >
          <NoticeText notice={notice} />
        </Strip>
      ))}
    </>
  )
}

function NoticeText({ notice }: { notice: WorkspaceNotice }) {
  const { kind, workspace } = notice
  if (kind === 'name') return null
  if (kind === 'rekeyed') {
    return (
      <>
        <p>{words.rekeyed(workspace)}</p>
        <Proof>{words.epoch(notice.epoch)}</Proof>
      </>
    )
  }
  if (kind === 'people') {
    return (
      <>
        <p>{words.people(workspace)}</p>
        <Proof label={words.changes(notice.changes.length)}>
          <ul>
            {notice.changes.map(({ at, by, what }) => (
              <li key={at + what}>{words.change(moments.format(new Date(at)), by, what)}</li>
            ))}
          </ul>
        </Proof>
      </>
    )
  }
  return (
    <>
      <p>{words[kind](workspace)}</p>
      <code className="font-medium wrap-anywhere">{notice.fingerprint}</code>
    </>
  )
}

function Hidden() {
  const { data = [] } = useAsk('names.hidden', null)
  const forget = async (id: string) => {
    await ask('names.forget', { id })
    await queryClient.invalidateQueries({ queryKey: ['names.hidden'] })
  }
  return data.map(({ id, name }) => (
    <Strip
      key={id}
      icon={EyeOff}
      action={
        <Button size="small" onPress={() => forget(id)}>
          {words.forget}
        </Button>
      }
    >
      <p>{words.hidden(name)}</p>
      <Proof>
        <code>{id}</code>
      </Proof>
    </Strip>
  ))
}
