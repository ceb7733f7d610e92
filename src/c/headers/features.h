/* Nothing: what a system offers is not asked here. */
