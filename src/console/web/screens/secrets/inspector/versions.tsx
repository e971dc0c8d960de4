/** Earlier versions of a secret: shown, compared with the current version, and restored. */
import { useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import type { Returned } from '../../../keys/messages.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/overlays/dialog.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { DiffBlock } from '../../../parts/show/diff_block.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { Status } from '../../../parts/show/status.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED, useMayHere } from '../place.ts'
import { type OfSecret, useNameOf } from './use.ts'

const words = texts.inspector

type Version = Returned<'versions.list'>[number]

export function VersionsTab({ place }: { place: OfSecret }) {
  const { data, error } = useAsk('versions.list', place)
  if (error)
    return (
      <div className="px-4 py-3">
        <FailureNote error={error} />
      </div>
    )
  if (!data) return <SkeletonRows count={3} height={56} />
  const current = data.find(({ isNow }) => isNow)
  return (
    <ol aria-label={words.versionsOf} className="px-4 py-3">
      {data.map((version) => (
        <OneVersion key={version.version} {...{ place, version, current }} />
      ))}
    </ol>
  )
}

type Props = { place: OfSecret; version: Version; current: Version | undefined }

function OneVersion({ place, version: shown, current }: Props) {
  const { version, by, createdAt, isNow, isReadable, isSame } = shown
  const [failed, setFailed] = useState<unknown>(null)
  const nameOf = useNameOf(place.workspaceId)
  return (
    <li className="relative flex flex-col gap-2 border-l border-line pb-5 pl-4 last:pb-1">
      <i
        aria-hidden="true"
        className={`absolute top-1.5 -left-[4.5px] size-2 rounded-full ${isNow ? 'bg-accent' : 'bg-control'}`}
      />
      <div className="flex flex-wrap items-center gap-x-2">
        <h3 className="font-medium">{words.versionTitle(version)}</h3>
        {isNow ? <Status tone="green">{words.current}</Status> : null}
        {isSame && !isNow ? <Status tone="neutral">{words.sameAsCurrent}</Status> : null}
        <span className="w-full text-ink-3">
          <Ago at={createdAt} /> {`${words.by} ${by ? nameOf(by) : words.formerMember}`}
        </span>
      </div>
      {isReadable ? (
        <SecretValue
          name={words.versionName(place.key, version)}
          read={() => ask('versions.reveal', { ...place, version })}
          onError={setFailed}
        />
      ) : (
        <p className="text-red">{texts.matrix.unreadable}</p>
      )}
      {failed ? <FailureNote error={failed} /> : null}
      {isReadable && !isNow && current ? <Compare {...{ place, current }} version={shown} /> : null}
    </li>
  )
}

function Compare({ place, version: other, current }: Props & { current: Version }) {
  const { version, isSame } = other
  const writes = useMayHere('secret.write') && !isSame
  const [isOpen, setOpen] = useState(false)
  const { restore, error, isPending } = useRestore(place, version, current.version)
  const close = () => setOpen(false)
  return (
    <>
      <Button
        size="small"
        aria-label={writes ? words.restoreNamed(version) : words.compareNamed(version)}
        onPress={() => setOpen(true)}
      >
        {writes ? words.restore : words.compare}
      </Button>
      <Dialog
        title={writes ? words.restoreTitle(version) : words.compareTitle(version)}
        isOpen={isOpen}
        onClose={close}
        footer={
          <>
            <Button onPress={close}>{writes ? texts.common.cancel : texts.common.close}</Button>
            {writes ? (
              <Button kind="primary" isPending={isPending} onPress={() => restore(close)}>
                {words.restoreVersion(version)}
              </Button>
            ) : null}
          </>
        }
      >
        <DiffBlock rows={compareVersions(current, other)} />
        {writes ? <p className="text-ink-2">{words.restoreHelp}</p> : null}
        {error ? <FailureNote error={error} /> : null}
      </Dialog>
    </>
  )
}

/** The value is never shown here: only whether it is the same. */
function compareVersions(current: Version, other: Version) {
  const text = ({ words: policy }: Version) => policy || words.noLimits
  const value = other.isSameValue
    ? [{ text: words.sameValue }]
    : [
        { text: words.otherValue(current.version), change: 'removed' as const },
        { text: words.otherValue(other.version), change: 'added' as const },
      ]
  const policy =
    text(current) === text(other)
      ? [{ text: text(other) }]
      : [
          { text: text(current), change: 'removed' as const },
          { text: text(other), change: 'added' as const },
        ]
  return [...value, ...policy]
}

function useRestore(place: OfSecret, version: number, current: number) {
  const rollBack = useCommand('versions.rollBack', { changes: CHANGED })
  const undo = {
    act: async () => {
      await rollBack.mutateAsync({ ...place, version: current })
      return words.restored(place.key, current)
    },
    failed: words.notRestored,
  }
  const restore = (close: () => void) =>
    rollBack.mutate(
      { ...place, version },
      {
        onSuccess: () => {
          say(words.restored(place.key, version), undo)
          close()
        },
      },
    )
  return { restore, error: rollBack.error, isPending: rollBack.isPending }
}
