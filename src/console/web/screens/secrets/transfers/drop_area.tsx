/** A file that is dropped anywhere on the screen opens the import. */
import { Upload } from 'lucide-react'
import { type DragEvent, type ReactNode, useState } from 'react'
import { Icon } from '../../../parts/icon.tsx'
import { texts } from '../../../texts/index.ts'
import { useGo } from '../place.ts'

type Props = { isActive: boolean; onFile(file: File): void; children: ReactNode }

/** Drops on a sheet bubble to here too, because React events follow the tree of components. */
export function DropArea({ isActive, onFile, children }: Props) {
  const go = useGo()
  const [isOver, setOver] = useState(false)
  const handleDragOver = (event: DragEvent) => {
    if (!isActive || !event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  const leave = ({ currentTarget, relatedTarget }: DragEvent) => {
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false)
  }
  const drop = (event: DragEvent) => {
    setOver(false)
    const [file] = event.dataTransfer.files
    if (!isActive || !file) return
    event.preventDefault()
    onFile(file)
    go({ pane: 'import', key: undefined })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the sheet has a button that does the same.
    <div
      data-drop
      className="relative flex min-h-0 flex-1 flex-col"
      onDragOver={handleDragOver}
      onDragLeave={leave}
      onDrop={drop}
    >
      {children}
      {isOver ? (
        <div className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-card border-2 border-dashed border-accent bg-accent-soft/90 font-medium text-accent-ink">
          <span className="inline-flex items-center gap-2">
            <Icon of={Upload} size={16} />
            {texts.secretSheets.drop}
          </span>
        </div>
      ) : null}
    </div>
  )
}
