/** What this browser has noticed of workspaces. */

import { ask } from '../../keys/ask.ts'
import { dismissNotice, useNotices } from '../../keys/notices.ts'
import type { WorkspaceNotice } from '../../keys/reports.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { queryClient, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.notices
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Of one workspace, or of all. */
export function WorkspaceNotices({ workspaceId }: { workspaceId?: string }) {
  const shown = useNotices().filter(
    (each) =>
      each.kind !== 'name' && (workspaceId === undefined || each.workspaceId === workspaceId),
  )
  return (
    <>
      {workspaceId === undefined ? <Hidden /> : null}
      {shown.map((notice) => (
        <Banner key={JSON.stringify(notice)} kind="warning">
          <div className="stack">
            <Said notice={notice} />
            <div>
              <Button kind="ghost" onPress={() => dismissNotice(notice)}>
                {words.read}
              </Button>
            </div>
          </div>
        </Banner>
      ))}
    </>
  )
}

function Said({ notice }: { notice: WorkspaceNotice }) {
  const { kind, workspace } = notice
  if (kind === 'name') return null
  if (kind === 'rekeyed') return <p>{words.rekeyed(workspace, notice.epoch)}</p>
  if (kind === 'people') {
    return (
      <>
        <p>{words.people(workspace)}</p>
        <ul>
          {notice.changes.map(({ at, by, what }) => (
            <li key={at + what}>{words.change(moments.format(new Date(at)), by, what)}</li>
          ))}
        </ul>
      </>
    )
  }
  return (
    <>
      <p>{words[kind](workspace)}</p>
      <p>
        <code className="fingerprint">{notice.fingerprint}</code>
      </p>
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
    <Banner key={id} kind="warning">
      <div className="stack">
        <p>{words.hidden(name, id)}</p>
        <div>
          <Button onPress={() => forget(id)}>{words.forget}</Button>
        </div>
      </div>
    </Banner>
  ))
}
