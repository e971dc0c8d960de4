/** The palette: one search for things, actions and places. Things are read when it opens and filtered here. */
import { type NavigateOptions, useNavigate, useRouter } from '@tanstack/react-router'
import { CornerDownLeft, History, Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components'
import { Icon } from '../../parts/icon.tsx'
import { Kbd } from '../../parts/show/kbd.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { useCurrentWorkspace } from '../current_workspace.ts'
import { allAreas } from '../navigation.ts'
import { closePalette, type PaletteCommand, paletteCommands } from '../palette_state.ts'
import type { PaletteEntry, PaletteGroup } from './entry.ts'
import { findMatches, partsOf } from './match.ts'
import type { RecentPlace } from './recent.ts'
import { findThings, type Things, thingEntries } from './things.ts'

const words = texts.palette
const MOST_COMMANDS = 8

type Props = { recent: readonly RecentPlace[] }

export default function PaletteBox({ recent }: Props) {
  const workspaceId = useCurrentWorkspace()?.workspace.id
  return (
    <ModalOverlay
      className="fixed inset-0 z-40 flex items-start justify-center bg-scrim px-4 pt-[12vh] phone:px-2 phone:pt-2"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => isOpen || closePalette()}
    >
      <Modal className="w-[min(600px,100%)] overflow-hidden rounded-card bg-surface shadow-pop">
        <Dialog aria-label={words.title} className="outline-none">
          {workspaceId === undefined ? (
            <Content things={undefined} workspaceId={undefined} recent={recent} />
          ) : (
            <WithThings workspaceId={workspaceId} recent={recent} />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function WithThings({ workspaceId, recent }: Props & { workspaceId: string }) {
  const { data, error } = useAsk('search.things', { workspaceId })
  const isPartial = error !== null || Object.values(data ?? {}).some(({ why }) => why !== null)
  return (
    <>
      <Content things={data} workspaceId={workspaceId} recent={recent} />
      <p role="status" className="px-3 text-small text-ink-2">
        {isPartial ? <span className="block pb-2">{words.partial}</span> : null}
      </p>
    </>
  )
}

type ContentProps = Props & { things: Things | undefined; workspaceId: string | undefined }

function Content({ things, workspaceId, recent }: ContentProps) {
  const [query, setQuery] = useState('')
  const all = useMemo(() => (things ? thingEntries(things) : []), [things])
  const run = useRun(workspaceId, query)
  const recents = useRecentEntries(recent)
  const groups = useMemo(() => {
    const parts = partsOf(query)
    const commands = paletteCommands()
    const shown =
      parts.length === 0
        ? buildOpeningGroups(recents, commands)
        : [...findThings(all, parts), ...findCommands(commands, parts)]
    return shown.filter(({ entries }) => entries.length > 0)
  }, [query, all, recents])
  return (
    <Autocomplete inputValue={query} onInputChange={setQuery}>
      <TextField
        aria-label={words.find}
        type="search"
        autoFocus
        className="flex h-12 items-center gap-2.5 border-b border-line px-4 text-ink-3"
      >
        <Icon of={Search} />
        <Input
          className="min-w-0 flex-1 text-title text-ink outline-none placeholder:text-ink-3 [&::-webkit-search-cancel-button]:hidden"
          placeholder={words.find}
        />
        <Kbd>{words.escape}</Kbd>
      </TextField>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: items never have the focus, so keys scroll the list. */}
      <div className="max-h-[min(420px,60vh)] overflow-auto -outline-offset-2" tabIndex={0}>
        <Menu
          aria-label={words.results}
          className="p-1.5 outline-none"
          renderEmptyState={() => (
            <p className="px-3 py-8 text-center text-ink-2">{words.noResults(query.trim())}</p>
          )}
        >
          {groups.map((group) => (
            <Section key={group.id} group={group} onRun={run} />
          ))}
        </Menu>
      </div>
    </Autocomplete>
  )
}

function Section({ group, onRun }: { group: PaletteGroup; onRun(entry: PaletteEntry): void }) {
  const { id, title, entries, count = 0 } = group
  return (
    <MenuSection id={id}>
      <Header className="flex justify-between px-2.5 pt-2 pb-1 text-caption font-medium text-ink-3">
        {title}
        {count > entries.length ? <span>{words.some(entries.length, count)}</span> : null}
      </Header>
      {entries.map((entry) => (
        <MenuItem
          key={entry.id}
          id={entry.id}
          textValue={entry.label}
          className="group flex h-9 cursor-pointer items-center gap-2.5 rounded-control px-2.5 outline-none data-focused:bg-surface-2 phone:h-11"
          onAction={() => onRun(entry)}
        >
          <span className="w-4 shrink-0 text-ink-3">
            {entry.icon ? <Icon of={entry.icon} /> : null}
          </span>
          <span className={`max-w-[60%] truncate ${entry.isMono ? 'font-mono text-mono' : ''}`}>
            {entry.label}
          </span>
          <span className="ml-auto min-w-0 truncate text-small text-ink-3">{entry.hint}</span>
          <span className="invisible shrink-0 text-ink-3 group-data-focused:visible phone:hidden">
            <Icon of={CornerDownLeft} size={13} />
          </span>
        </MenuItem>
      ))}
    </MenuSection>
  )
}

function useRun(workspaceId: string | undefined, query: string) {
  const navigate = useNavigate()
  return ({ act, open }: PaletteEntry) => {
    closePalette()
    act?.()
    if (!open || workspaceId === undefined) return
    const { to, search } = open(partsOf(query))
    // The entries name routes that exist; their search differs by route.
    void navigate({ to, params: { workspaceId }, search } as NavigateOptions)
  }
}

function useRecentEntries(recent: readonly RecentPlace[]): PaletteEntry[] {
  const { history, basepath } = useRouter()
  return useMemo(
    () =>
      recent.map(({ href, label, hint, areaTo }) => ({
        id: `recent ${href}`,
        label,
        ...(hint === undefined ? {} : { hint }),
        icon: allAreas.find(({ to }) => to === areaTo)?.icon ?? History,
        act: () => history.push(`${basepath}${href}`),
      })),
    [recent, history, basepath],
  )
}

function buildOpeningGroups(
  recents: readonly PaletteEntry[],
  commands: readonly PaletteCommand[],
): PaletteGroup[] {
  const actions = commands.filter(({ isCommon }) => isCommon)
  const places = commands.filter(({ group }) => group === 'places')
  return [
    { id: 'recent', title: words.recent, entries: recents },
    { id: 'actions', title: words.actions, entries: actions },
    { id: 'places', title: words.places, entries: places },
  ]
}

function findCommands(
  commands: readonly PaletteCommand[],
  parts: readonly string[],
): PaletteGroup[] {
  const titles = { actions: words.actions, places: words.places, workspaces: words.workspaces }
  return (['actions', 'places', 'workspaces'] as const).map((id) => {
    const own = commands.filter(({ group = 'actions' }) => group === id)
    return { id, title: titles[id], entries: findMatches(own, parts, MOST_COMMANDS).found }
  })
}
