(define (problem candles-under-the-garland)
  (:domain household)
  (:objects
    robot - robot  living_room hall - room  yusuf - adult  party_table windowsill - surface  candles - candle
    paper_garland - garland  matches - item)
  (:init
    (passage living_room hall) (passage hall living_room) (in-room party_table living_room)
    (in-room windowsill living_room) (on candles party_table) (on paper_garland party_table)
    (flammable paper_garland) (on matches windowsill) (makes-fire matches) (present yusuf hall) (present robot hall)
    (handfree robot))
  (:goal (and (aflame candles) (present yusuf living_room))))
