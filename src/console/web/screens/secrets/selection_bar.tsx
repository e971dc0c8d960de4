/** Actions on the selected secrets. It floats over the end of the list, so that no row moves. */
import { Copy, ShieldCheck, Trash2, X } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon_button.tsx'
import { texts } from '../../texts/index.ts'
import { useGo } from './place.ts'

const words = texts.matrix

type Props = { count: number; clear(): void }

export function SelectionBar({ count, clear }: Props) {
  const go = useGo()
  if (count === 0) return null
  const open = (pane: string) => () => go({ pane, key: undefined })
  return (
    <section
      aria-label={words.selection}
      className="absolute bottom-4 left-1/2 z-10 flex max-w-[calc(100%-32px)] -translate-x-1/2 items-center gap-1 rounded-card bg-surface py-1.5 pr-1.5 pl-4 shadow-pop phone:flex-wrap"
    >
      <span role="status" className="mr-2 font-medium whitespace-nowrap tabular-nums">
        {words.selected(count)}
      </span>
      <Button kind="ghost" icon={Copy} onPress={open('copy')}>
        {words.copyTo}
      </Button>
      <Button kind="ghost" icon={ShieldCheck} onPress={open('policy')}>
        {words.setPolicies}
      </Button>
      <Button kind="ghost" icon={Trash2} onPress={open('remove')}>
        {words.remove}
      </Button>
      <IconButton icon={X} label={words.clearSelection} onPress={clear} />
    </section>
  )
}
