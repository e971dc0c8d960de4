/** The change of a signature, line by line. */
import { useCurrentWorkspace } from '../../frame/current_workspace.ts'
import type { Returned } from '../../keys/messages.ts'
import { Proof } from '../../parts/page/proof.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { DiffBlock } from '../../parts/show/diff_block.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.live

type Proposed = Returned<'live.propose'>
type Row = Parameters<typeof DiffBlock>[0]['rows'][number]

/** Lines of a list that stay and are shown. */
const MAX_KEPT = 3

export function Changes({ proposed, isNarrow }: { proposed: Proposed; isNarrow: boolean }) {
  const workspace = useCurrentWorkspace()?.workspace.name ?? ''
  if (proposed.change.kind === 'none') return null
  const { narrowing } = proposed
  return (
    <InspectorSection title={words.whatChanges}>
      <div className="flex flex-col gap-2">
        <DiffBlock rows={rowsOf(proposed, workspace)} />
        {isNarrow && narrowing ? <DiffBlock rows={limitRows(narrowing)} /> : null}
        <Signing proposed={proposed} />
      </div>
    </InspectorSection>
  )
}

/** The number of the new link or version. */
function Signing({ proposed: { link, version } }: { proposed: Proposed }) {
  if (link === null && version === null) return null
  return (
    <Proof>
      {link === null ? null : <p>{words.link(link)}</p>}
      {version === null ? null : <p>{words.version(version + 1)}</p>}
    </Proof>
  )
}

function rowsOf({ change, before, to }: Proposed, workspace: string): Row[] {
  switch (change.kind) {
    case 'allowlist':
      return [
        ...buildKeptRows(words.hostsOf(workspace), before ?? []),
        buildAddedRow(change.domain),
      ]
    case 'policy': {
      const title = words.rule[change.rule](change.secret, change.environment)
      return [...buildKeptRows(title, before ?? [words.usual]), buildAddedRow(change.entry)]
    }
    case 'grant':
      return to
        ? [{ text: words.keysOf(to.label) }, buildAddedRow(words.place(to.project, to.environment))]
        : []
    default:
      return []
  }
}

function limitRows({ secret, before, after }: NonNullable<Proposed['narrowing']>): Row[] {
  const title = words.rule.allowed_domains(secret, '')
  const gone: Row[] = before === null ? [{ text: words.anyHostOfAll, change: 'removed' }] : []
  const fresh = after.filter((host) => !before?.includes(host))
  return [...buildKeptRows(title, before ?? []), ...gone, ...fresh.map(buildAddedRow)]
}

function buildKeptRows(title: string, lines: readonly string[]): Row[] {
  const hidden = lines.length - MAX_KEPT
  return [
    { text: title },
    ...(hidden > 0 ? [{ text: words.moreLines(hidden) }] : []),
    ...lines.slice(-MAX_KEPT).map((text) => ({ text })),
  ]
}

const buildAddedRow = (text: string): Row => ({ text, change: 'added' })
