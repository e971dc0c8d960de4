/** The list of options that a field opens. */
import { Check } from 'lucide-react'
import { UNSAFE_PortalProvider } from 'react-aria/PortalProvider'
import { ListBox, ListBoxItem, Popover } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'
import { ITEM, LIST, POPOVER } from '../overlays/list_class.ts'

export type FieldOption<Id extends string = string> = { id: Id; label: string }

type Props = { options?: readonly FieldOption[]; getContainer?: () => HTMLElement }

/** Without `options` the items come from the field, which filters them. */
export function OptionList({ options, getContainer }: Props) {
  return (
    <UNSAFE_PortalProvider getContainer={getContainer ?? null}>
      <Popover className={`${POPOVER} w-(--trigger-width)`} offset={4}>
        <ListBox<FieldOption>
          className={LIST}
          renderEmptyState={() => <p className="px-2 py-1 text-ink-2">{texts.parts.noOptions}</p>}
          {...(options ? { items: options } : {})}
        >
          {({ id, label }) => (
            <ListBoxItem id={id} textValue={label} className={ITEM}>
              {({ isSelected }) => (
                <>
                  <span className="min-w-0 flex-1 truncate">{label}</span>
                  {isSelected ? <Icon of={Check} /> : null}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </UNSAFE_PortalProvider>
  )
}
