#!/bin/bash
URL=https://storage.example.org/o/data%2F
wget -c "${URL}SST-2.zip?alt=media&token=aabc5f6b-e466-44a2-b9b4-cf6337f84ac8" -P data
