/** Several views of one thing, of which one is shown. */
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'

type Props<Id extends string> = {
  label: string
  tabs: readonly { id: Id; label: string; content: ReactNode }[]
  selected?: Id
  onSelect?(id: Id): void
}

export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: Props<Id>) {
  return (
    <AriaTabs
      {...(selected === undefined ? {} : { selectedKey: selected })}
      onSelectionChange={(key) => {
        const chosen = tabs.find(({ id }) => id === key)
        if (chosen) onSelect?.(chosen.id)
      }}
    >
      <TabList aria-label={label} className="tab-list">
        {tabs.map(({ id, label: text }) => (
          <Tab key={id} id={id} className="tab">
            {text}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
