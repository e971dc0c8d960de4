/** The token's permissions as a sentence. Each word is a menu. */
import { WordMenu } from '../../../parts/overlays/sentence_word.tsx'
import { texts } from '../../../texts/index.ts'
import type { DraftProps } from './draft.ts'
import { ALL, type ProjectChoice, type TokenDraft, type TokenHolder } from './draft.ts'

const words = texts.wizard

type Props = DraftProps & {
  holder: TokenHolder
  projects: readonly ProjectChoice[]
  environments: readonly string[]
  /** The chosen one; empty until they are read. */
  environment: string
}

export function TokenSentence({ draft, change, ...given }: Props) {
  const { may, days, name } = draft
  return (
    <section
      aria-label={words.summary}
      className="flex flex-col gap-1 rounded-card border border-line bg-canvas px-4 py-3"
    >
      <p className="leading-8 wrap-anywhere phone:leading-11">
        <b className="font-semibold">{name.trim() || words.someone}</b>{' '}
        <WordMenu
          label={words.capabilities}
          text={words.may[may]}
          choices={choicesOf(words.may, may, (id) => change({ may: id }))}
        />{' '}
        {words.of} <Where draft={draft} change={change} {...given} /> {words.for}{' '}
        <WordMenu
          label={words.days}
          text={words.lengths[days]}
          choices={choicesOf({ ...words.lengths, never: words.noEnd }, days, (id) =>
            change({ days: id }),
          )}
        />
        {'.'}
      </p>
      <p className={may === 'use' ? 'text-ink-2' : 'text-amber'}>
        {may === 'use' ? words.cannotRead : words.canRead} {days === 'never' ? words.endless : null}
      </p>
    </section>
  )
}

function choicesOf<Id extends string>(
  labels: Readonly<Record<Id, string>>,
  chosen: Id,
  choose: (id: Id) => void,
) {
  return (Object.keys(labels) as Id[]).map((id) => ({
    id,
    label: String(labels[id]),
    isSelected: id === chosen,
    act: () => choose(id),
  }))
}

function Where({ holder, draft, change, projects, environments, environment }: Props) {
  const { kind, projectId } = draft
  const describeEvery = (label: string) => (kind === 'workload' ? {} : { [ALL]: label })
  const named: Record<string, string> = {
    ...Object.fromEntries(projects.map(({ id, name }) => [id, name])),
    ...describeEvery(words.everyProject),
  }
  const places: Record<string, string> = {
    ...Object.fromEntries(environments.map((name) => [name, name])),
    ...describeEvery(words.everyEnvironment),
  }
  const project = named[projectId] ?? words.everyProject
  const choose = (id: TokenDraft['projectId']) => change({ projectId: id, environment: null })
  return (
    <>
      {holder.kind === 'agent' ? (
        <b className="font-semibold">{project}</b>
      ) : (
        <WordMenu
          label={words.project}
          text={project}
          choices={choicesOf(named, projectId, choose)}
        />
      )}{' '}
      {'/'}{' '}
      <WordMenu
        label={words.environment}
        text={places[environment] ?? words.reading}
        choices={choicesOf(places, environment, (id) => change({ environment: id }))}
      />
    </>
  )
}
