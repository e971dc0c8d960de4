/** `?` lists the keys that work on this page. */
import { useMemo, useState } from 'react'
import { Dialog } from '../parts/overlays/dialog.tsx'
import { useAllShortcuts, useShortcuts } from '../shortcuts.ts'
import { texts } from '../texts/index.ts'

const words = texts.common.shortcuts

/** Keys of every list, besides J and K. */
const LIST_KEYS = [
  { keys: '↑ ↓', label: words.move },
  { keys: 'Enter', label: words.open },
  { keys: 'Esc', label: words.close },
]

export function ShortcutList() {
  const [isOpen, setOpen] = useState(false)
  const own = useMemo(() => [{ keys: '?', label: words.list, act: () => setOpen(true) }], [])
  useShortcuts(own)
  const all = useAllShortcuts()
  const unique = [...new Map(all.map((each) => [each.keys, each])).values()]
  return (
    <Dialog title={words.title} isOpen={isOpen} onClose={() => setOpen(false)}>
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        {[...unique, ...LIST_KEYS].map(({ keys, label }) => (
          <div key={keys} className="contents">
            <dt className="text-ink-2">{label}</dt>
            <dd>
              <kbd className="rounded-tag border border-line-2 px-1.5 text-caption font-medium text-ink-3 uppercase">
                {keys}
              </kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
