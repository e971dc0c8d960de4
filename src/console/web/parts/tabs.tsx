/** Several views of one thing, one of them shown. Leaving one with unsaved text asks first. */
import { type ReactNode, useRef, useState } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'
import { closeAsking } from './overlays/unsaved.ts'

type Props<Id extends string> = {
  label: string
  tabs: readonly { id: Id; label: string; content: ReactNode }[]
  selected?: Id
  onSelect?(id: Id): void
}

export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: Props<Id>) {
  const box = useRef<HTMLDivElement>(null)
  const [own, setOwn] = useState(tabs[0]?.id)
  const shown = selected ?? own
  const select = (id: Id) => {
    setOwn(id)
    onSelect?.(id)
  }
  return (
    <AriaTabs
      ref={box}
      className="outline-none"
      {...(shown === undefined ? {} : { selectedKey: shown })}
      onSelectionChange={(key) => {
        const chosen = tabs.find(({ id }) => id === key)
        if (chosen && chosen.id !== shown) closeAsking(box.current, () => select(chosen.id))
      }}
    >
      <TabList aria-label={label} className="flex gap-4 border-b border-line px-4">
        {tabs.map(({ id, label: text }) => (
          <Tab
            key={id}
            id={id}
            className="-mb-px cursor-pointer border-b-2 border-transparent pt-1.5 pb-[7px] font-medium whitespace-nowrap text-ink-2 hover:text-ink selected:border-ink selected:text-ink"
          >
            {text}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="outline-offset-[-2px]">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
